package client

import (
	"slices"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// land moves the bodies into memory and returns the capture. Only a few bodies at
// a time come back from disk. Each keeps its place until [Lease.Leave], when
// the caller has stored it.
func (lease *Lease) land(got *heard) *fetch.Capture {
	for i, also := range got.also {
		other := lease.landOne(also)
		if other.Local != nil || other.Error == answer.ErrorCanceled {
			return other
		}
		got.Also[i].Capture = other
	}
	if err := lease.landMore(got.Capture); err != nil {
		return lease.unlanded(got, err)
	}
	defer share(got.Capture)
	return lease.landOne(got)
}

// landOne moves a body into memory and returns its capture.
func (lease *Lease) landOne(got *heard) *fetch.Capture {
	t := got.text
	if t == nil {
		return got.Capture
	}
	got.text = nil
	isPage := got.Error == answer.ErrorRedirectInvalid // its status says that it leads on, and its body may be read
	if n := t.size(); got.Error != "" && !isPage {
		got.Cut = &n
		return got.Capture
	}
	err := lease.takeLanding(t)
	if err == nil {
		got.Body, err = t.bytes()
	}
	if err != nil {
		return lease.unlanded(got, err)
	}
	return got.Capture
}

// takeLanding waits until a text may come into memory. The error is that of the context.
func (lease *Lease) takeLanding(t *text) error {
	if t.stored < blockBytes || lease.landed {
		return nil
	}
	select {
	case lease.client.spool.landing <- struct{}{}:
		lease.landed = true
		return nil
	case <-lease.ctx.Done():
		return lease.ctx.Err()
	}
}

// unlanded returns the capture of a fetch of which a body did not come into memory.
func (lease *Lease) unlanded(got *heard, err error) *fetch.Capture {
	if lease.ctx.Err() != nil {
		got.stop(err)
		return got.Capture
	}
	return &fetch.Capture{Origin: got.Origin, Start: time.Now(), Error: answer.ErrorCanceled, Err: err, Local: err}
}

// text returns a text for an answer. It is released with the lease.
func (lease *Lease) text(expect int, paused func(time.Duration)) *text {
	t := newText(lease.client.spool, expect, paused)
	lease.texts = append(lease.texts, t)
	return t
}

// drop releases a text that nobody needs any more.
func (lease *Lease) drop(t *text) {
	t.release()
	lease.texts = slices.DeleteFunc(lease.texts, func(other *text) bool { return other == t })
}

// shrink gives memory back that the lease does not need for now.
func (lease *Lease) shrink() {
	if lease.client.spool.create != nil {
		lease.layFacts()
	}
	for _, t := range lease.texts {
		if t == lease.tape || t == lease.kept {
			t.lay()
		} else {
			t.fit()
		}
	}
}

// settle releases the memory of the lease's answers.
func (lease *Lease) settle() {
	for _, t := range lease.texts {
		t.release()
	}
	lease.texts = nil
	if lease.landed {
		lease.landed = false
		<-lease.client.spool.landing
	}
}
