package check

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kubelet stands in for the scheduler and the nodes: it binds every pod, and runs the
// commands of its containers as processes, in a root folder like that of the image,
// with the user, the environment and the volumes of the pod. It needs a mount
// namespace of its own.
type kubelet struct {
	api   *apiServer
	image string // folder with what the image holds
	work  string // folder for pods

	// before is called before a container starts, and line with each line that one
	// prints.
	before func(p *pod, container string)
	line   func(p *pod, container, text string)

	mu      sync.Mutex
	pods    map[string]*pod // by name
	all     []*pod          // in the order of their start
	ended   error           // why run has ended
	running sync.WaitGroup
}

// pod is a pod that the kubelet runs.
type pod struct {
	*core.Pod
	index    int // of the Indexed Job
	stop     chan struct{}
	process  *os.Process // of the container that runs
	stopped  bool        // the pod was deleted
	exitCode int         // of the last container, -1 before that
}

const podsPath = "/api/v1/namespaces/default/pods"

// run runs pods until the context ends.
func (k *kubelet) run(ctx context.Context) {
	k.pods = make(map[string]*pod)
	err := watch(ctx, k.api, podsPath, func(kind string, object *core.Pod) error {
		k.mu.Lock()
		defer k.mu.Unlock()
		p := k.pods[object.Name]
		switch {
		case kind == "DELETED":
		case object.DeletionTimestamp != nil && p != nil:
			if !p.stopped {
				p.stopped = true
				close(p.stop)
			}
		case p == nil && object.DeletionTimestamp == nil:
			index, err := strconv.Atoi(object.Annotations["batch.kubernetes.io/job-completion-index"])
			if err != nil {
				return fmt.Errorf("pod %s has no index: %w", object.Name, err)
			}
			p = &pod{Pod: object, index: index, stop: make(chan struct{}), exitCode: -1}
			k.pods[object.Name] = p
			k.all = append(k.all, p)
			k.running.Go(func() { k.runPod(ctx, p) })
		}
		return nil
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = err
}

// fail ends the kubelet with an error; waiting for a job then ends too.
func (k *kubelet) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = errors.Join(k.ended, err)
}

// err returns the error that has ended the kubelet.
func (k *kubelet) err() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ended
}

// kill sends SIGKILL to the container of a pod that runs.
func (k *kubelet) kill(p *pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p.process != nil {
		p.process.Kill()
	}
}

// runPod binds a pod, runs its containers one after the other, and reports how they
// end.
func (k *kubelet) runPod(ctx context.Context, p *pod) {
	binding := core.Binding{
		TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Binding"}, ObjectMeta: meta.ObjectMeta{Name: p.Name},
		Target: core.ObjectReference{Kind: "Node", Name: "node"},
	}
	err := k.api.post(ctx, podsPath+"/"+p.Name+"/binding", &binding)
	if err == nil {
		err = k.runContainers(ctx, p)
	}
	if err != nil && ctx.Err() == nil {
		k.fail(fmt.Errorf("pod %s: %w", p.Name, err))
	}
}

func (k *kubelet) runContainers(ctx context.Context, p *pod) error {
	root, unmount, err := k.mountPod(ctx, p)
	defer unmount()
	if err != nil {
		return err
	}
	status := core.PodStatus{Phase: core.PodPending}
	containers := slices.Concat(p.Spec.InitContainers, p.Spec.Containers)
	for i := range containers {
		statuses := &status.InitContainerStatuses
		if i >= len(p.Spec.InitContainers) {
			statuses, status.Phase = &status.ContainerStatuses, core.PodRunning
		}
		c := &containers[i]
		*statuses = append(*statuses, core.ContainerStatus{Name: c.Name, Image: c.Image, State: core.ContainerState{
			Running: &core.ContainerStateRunning{StartedAt: meta.Now()}}})
		if err := k.report(ctx, p, &status); err != nil {
			return err
		}
		code, err := k.runContainer(ctx, p, c, root)
		if err != nil {
			return err
		}
		(*statuses)[len(*statuses)-1].State = core.ContainerState{Terminated: &core.ContainerStateTerminated{
			ExitCode: int32(code), FinishedAt: meta.Now()}}
		k.mu.Lock()
		p.exitCode, p.process = code, nil
		deleted := p.stopped
		k.mu.Unlock()
		if code == 0 && i == len(containers)-1 {
			status.Phase = core.PodSucceeded
		} else if code != 0 || deleted {
			status.Phase = core.PodFailed
			break
		}
	}
	if err := k.report(ctx, p, &status); err != nil {
		return err
	}
	k.mu.Lock()
	deleted := p.stopped
	k.mu.Unlock()
	if !deleted {
		return nil
	}
	err = k.api.do(ctx, http.MethodDelete, podsPath+"/"+p.Name+"?gracePeriodSeconds=0", "", nil, nil)
	if e := (*apiError)(nil); errors.As(err, &e) && e.status == http.StatusNotFound {
		return nil
	}
	return err
}

// report merges a status into that of the API server, which has conditions of its own.
// A pod that is gone needs none.
func (k *kubelet) report(ctx context.Context, p *pod, status *core.PodStatus) error {
	err := k.api.do(ctx, http.MethodPatch, podsPath+"/"+p.Name+"/status", strategicMerge,
		map[string]any{"status": status}, nil)
	if e := (*apiError)(nil); errors.As(err, &e) && e.status == http.StatusNotFound {
		return nil
	}
	return err
}

// mountPod makes the root folder of a pod: what the image holds, read-only, and the
// volumes of its containers, which are all mounted alike.
func (k *kubelet) mountPod(ctx context.Context, p *pod) (root string, unmount func(), err error) {
	folder := filepath.Join(k.work, "pods", p.Name)
	root = filepath.Join(folder, "root")
	var mounted []string
	unmount = func() {
		for _, path := range slices.Backward(mounted) {
			syscall.Unmount(path, syscall.MNT_DETACH)
		}
	}
	mount := func(source, target string, readOnly bool) error {
		if err := syscall.Mount(source, target, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount %s on %s: %w", source, target, err)
		}
		mounted = append(mounted, target)
		if !readOnly {
			return nil
		}
		return syscall.Mount("", target, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, "")
	}
	if err := os.CopyFS(root, os.DirFS(k.image)); err != nil {
		return root, unmount, err
	}
	volumes := make(map[string]string)
	for _, v := range p.Spec.Volumes {
		if volumes[v.Name], err = k.volume(ctx, folder, p, &v); err != nil {
			return root, unmount, err
		}
	}
	mounts := p.Spec.Containers[0].VolumeMounts
	for _, m := range mounts {
		if err := os.MkdirAll(filepath.Join(root, m.MountPath), 0o755); err != nil {
			return root, unmount, err
		}
	}
	err = mount(root, root, *p.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem)
	for _, m := range mounts {
		if err == nil {
			err = mount(volumes[m.Name], filepath.Join(root, m.MountPath), m.ReadOnly)
		}
	}
	return root, unmount, err
}

// volume returns a folder with what a volume holds. Those that may be written to
// belong to the group of the pod.
func (k *kubelet) volume(ctx context.Context, folder string, p *pod, v *core.Volume) (path string, err error) {
	switch {
	case v.ConfigMap != nil:
		return k.configMap(ctx, filepath.Join(folder, v.Name), v.ConfigMap.Name)
	case v.EmptyDir != nil:
		path = filepath.Join(folder, v.Name)
	default:
		return "", fmt.Errorf("volume %s is of a kind that is not supported", v.Name)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", err
	}
	if err := os.Chown(path, 0, int(*p.Spec.SecurityContext.FSGroup)); err != nil {
		return "", err
	}
	return path, os.Chmod(path, 0o770|os.ModeSetgid)
}

// configMap writes the files of a ConfigMap to a folder as a node does, through links.
func (k *kubelet) configMap(ctx context.Context, folder, name string) (string, error) {
	m, err := k.readConfigMap(ctx, name)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(folder, "..2026"), 0o755); err != nil {
		return "", err
	}
	if err := os.Symlink("..2026", filepath.Join(folder, "..data")); err != nil {
		return "", err
	}
	for name, text := range m.Data {
		if err := os.WriteFile(filepath.Join(folder, "..2026", name), []byte(text), 0o644); err != nil {
			return "", err
		}
		if err := os.Symlink("..data/"+name, filepath.Join(folder, name)); err != nil {
			return "", err
		}
	}
	return folder, nil
}

func (k *kubelet) readConfigMap(ctx context.Context, name string) (*core.ConfigMap, error) {
	var m core.ConfigMap
	return &m, k.api.get(ctx, "/api/v1/namespaces/default/configmaps/"+name, &m)
}

// environment returns the environment of a container.
func (k *kubelet) environment(ctx context.Context, p *pod, c *core.Container) (map[string]string, error) {
	env := map[string]string{"XDG_CACHE_HOME": "/tmp"} // of the image
	for _, from := range c.EnvFrom {
		switch {
		case from.ConfigMapRef != nil:
			m, err := k.readConfigMap(ctx, from.ConfigMapRef.Name)
			if err != nil {
				return nil, err
			}
			maps.Copy(env, m.Data)
		case from.SecretRef != nil:
			var s core.Secret
			if err := k.api.get(ctx, "/api/v1/namespaces/default/secrets/"+from.SecretRef.Name, &s); err != nil {
				return nil, err
			}
			for name, value := range s.Data {
				env[name] = string(value)
			}
		}
	}
	field := regexp.MustCompile(`^metadata\.(labels|annotations)\['(.*)'\]$`)
	for _, e := range c.Env {
		env[e.Name] = e.Value
		if e.ValueFrom == nil {
			continue
		}
		found := field.FindStringSubmatch(e.ValueFrom.FieldRef.FieldPath)
		if found == nil {
			return nil, fmt.Errorf("field %s is not supported", e.ValueFrom.FieldRef.FieldPath)
		}
		env[e.Name] = map[string]map[string]string{"labels": p.Labels, "annotations": p.Annotations}[found[1]][found[2]]
	}
	return env, nil
}

// runContainer runs the entrypoint of the image with the arguments of a container.
// When the pod is deleted, the process gets SIGTERM, and SIGKILL after the pod's time.
func (k *kubelet) runContainer(ctx context.Context, p *pod, c *core.Container, root string) (code int, err error) {
	env, err := k.environment(ctx, p, c)
	if err != nil {
		return 0, err
	}
	k.before(p, c.Name)
	command := &exec.Cmd{Path: "/robocensus", Args: []string{"robocensus"}, Dir: "/"}
	variable := regexp.MustCompile(`\$\(\w+\)`)
	for _, argument := range c.Args {
		command.Args = append(command.Args, variable.ReplaceAllStringFunc(argument, func(v string) string {
			return env[strings.Trim(v, "$()")]
		}))
	}
	for name, value := range env {
		command.Env = append(command.Env, name+"="+value)
	}
	security := p.Spec.SecurityContext
	command.SysProcAttr = &syscall.SysProcAttr{
		Chroot: root,
		Credential: &syscall.Credential{Uid: uint32(*security.RunAsUser), Gid: uint32(*security.RunAsGroup),
			Groups: []uint32{uint32(*security.FSGroup)}},
	}
	output, input := io.Pipe()
	command.Stdout, command.Stderr = input, input
	var printed sync.WaitGroup
	defer printed.Wait()
	defer input.Close()
	printed.Go(func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			k.line(p, c.Name, lines.Text())
		}
	})
	if err := command.Start(); err != nil {
		return 0, err
	}
	k.mu.Lock()
	p.process = command.Process
	k.mu.Unlock()
	done := make(chan struct{})
	go func() {
		select {
		case <-p.stop:
			command.Process.Signal(syscall.SIGTERM)
		case <-done:
			return
		}
		select {
		case <-time.After(time.Duration(*p.Spec.TerminationGracePeriodSeconds) * time.Second):
			command.Process.Kill()
		case <-done:
		}
	}()
	command.Wait()
	close(done)
	status := command.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}
