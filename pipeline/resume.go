package pipeline

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/sink/journal"
)

// passOver accounts for a committed segment, with its targets and their lines of
// the input.
func (n *census) passOver(index int, targets int, lines int64) error {
	record := n.run.Committed(index)
	if record.Targets != int64(targets) {
		// The digest is that of the same list, so its reading has changed.
		return fmt.Errorf("the run %w: segment %d had %d targets and now has %d, so this version reads the list "+
			"differently; start over with --force-new", journal.ErrNotResumable, index, record.Targets, targets)
	}
	n.progress.passedOver(targets, lines)
	return nil
}

// passOverArchive accounts for an archive whose segments are all committed, and reports
// whether it is one: it is not read again. An archive is, if its last segment was
// full when the archive ended, if it has no targets, or if some of it was rejected.
func (n *census) passOverArchive(v *source.Volume) (bool, error) {
	var records []*journal.Record
	for i := v.First; ; i++ {
		r := n.run.Committed(i)
		if r == nil || i == v.First+v.Most {
			return false, nil
		}
		records = append(records, r)
		if r.Archive != nil && r.Archive.End {
			break
		}
	}
	targets := int64(0)
	for _, r := range records {
		if err := n.passOver(r.Segment, int(r.Targets), 0); err != nil {
			return false, err
		}
		targets += r.Targets
	}
	return true, v.PassOver(targets, records[len(records)-1].Archive)
}

// checkArchive returns an error if the archive of a committed segment was replaced.
func (n *census) checkArchive(index int, v *source.Volume) error {
	was, is := n.run.Committed(index).Archive, v.Archive()
	if was != nil && is != nil && (was.Bytes != is.Bytes || was.Tag != is.Tag) {
		return fmt.Errorf("the run %w: %s was replaced since the run has read it; start over with --force-new",
			journal.ErrNotResumable, v.Path())
	}
	return nil
}

// saveCapture saves a job's capture on disk until its segment is committed, in case
// this process dies.
func (n *census) saveCapture(j *job) error {
	captures := j.piece.segment.captures
	if captures == nil {
		return nil
	}
	encoded, err := j.Capture.MarshalBinary()
	if err != nil {
		return fmt.Errorf("save the capture of %s: %w", j.Capture.Origin, err)
	}
	size := binary.AppendUvarint(nil, uint64(len(encoded)))
	return captures.Keep(j.ordinal, size, encoded, j.evidence)
}

// savedCapture gives a job without a capture the one that an earlier process of the
// run saved, if there is one and it can be decoded.
func (n *census) savedCapture(j *job) error {
	captures := j.piece.segment.captures
	if captures == nil {
		return nil
	}
	saved, err := captures.Find(j.ordinal)
	if err != nil || saved == nil {
		return err
	}
	size, k := binary.Uvarint(saved)
	if k <= 0 || size > uint64(len(saved)-k) {
		return nil
	}
	encoded, records := saved[k:k+int(size)], saved[k+int(size):]
	var c fetch.Capture
	if err := c.UnmarshalBinary(encoded); err == nil && slices.Contains(j.Candidates, c.Origin) {
		j.Capture = &c
		if n.evidence != nil {
			j.evidence = slices.Clone(records)
		}
	}
	return nil
}
