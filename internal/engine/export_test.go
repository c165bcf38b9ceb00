package engine

// CheckpointEvery has the driver keep its state after so many events.
func (d *Driver) CheckpointEvery(n uint64) { d.every = n }
