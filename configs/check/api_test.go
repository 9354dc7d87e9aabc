package check

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The content types of PATCH.
const (
	serverSideApply = "application/apply-patch+yaml"
	strategicMerge  = "application/strategic-merge-patch+json"
)

// apiServer is a client of the API server.
type apiServer struct {
	url, token string
	client     *http.Client
}

func newAPIServer(url, token string) *apiServer {
	// The server is on this machine and signs its own certificate.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	return &apiServer{url, token, &http.Client{Transport: transport}}
}

// do sends a request. body is nil, bytes that are sent as they are, or an object. The
// answer is decoded to out unless that is nil.
func (a *apiServer) do(ctx context.Context, method, path, contentType string, body, out any) error {
	answer, err := a.open(ctx, method, path, contentType, body)
	if err != nil {
		return err
	}
	defer answer.Close()
	if out == nil {
		_, err = io.Copy(io.Discard, answer)
		return err
	}
	return json.NewDecoder(answer).Decode(out)
}

func (a *apiServer) open(ctx context.Context, method, path, contentType string, body any) (io.ReadCloser, error) {
	raw, ok := body.([]byte)
	if !ok && body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, a.url+path, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+a.token)
	request.Header.Set("Content-Type", contentType)
	answer, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= 300 {
		defer answer.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 2000))
		return nil, &apiError{answer.StatusCode, fmt.Sprintf("%s %s: %s: %s", method, path, answer.Status, text)}
	}
	return answer.Body, nil
}

// apiError is an answer of the API server that is no success.
type apiError struct {
	status int
	text   string
}

func (e *apiError) Error() string { return e.text }

func (a *apiServer) get(ctx context.Context, path string, out any) error {
	return a.do(ctx, http.MethodGet, path, "", nil, out)
}

func (a *apiServer) post(ctx context.Context, path string, body any) error {
	return a.do(ctx, http.MethodPost, path, "application/json", body, nil)
}

// apply does what kubectl apply --server-side does with an object at path.
func (a *apiServer) apply(ctx context.Context, path string, document []byte) error {
	query := url.Values{"fieldManager": {"kubectl"}, "fieldValidation": {"Strict"}}
	return a.do(ctx, http.MethodPatch, path+"?"+query.Encode(), serverSideApply, document, nil)
}

// watch calls f with every object at path, and again with each that changes, until
// the context ends or f fails.
func watch[T any](ctx context.Context, a *apiServer, path string, f func(kind string, object *T) error) error {
	answer, err := a.open(ctx, http.MethodGet, path+"?watch=1", "", nil)
	if err != nil {
		return err
	}
	defer answer.Close()
	for events := json.NewDecoder(answer); ; {
		var event meta.WatchEvent
		if err := events.Decode(&event); err != nil {
			return err
		}
		if event.Type == "ERROR" {
			return fmt.Errorf("watch %s: %s", path, event.Object.Raw)
		}
		object := new(T)
		if err := json.Unmarshal(event.Object.Raw, object); err != nil {
			return err
		}
		if err := f(event.Type, object); err != nil {
			return err
		}
	}
}
