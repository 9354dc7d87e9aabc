package robots

// GroupClass is the class of one group of the file last loaded: that of an
// agent that follows this group alone. A group without a rule is allow_all.
func (j *Judge) GroupClass(f *File, group int) Class {
	return j.classify(j.compile(f, int32(group)))
}
