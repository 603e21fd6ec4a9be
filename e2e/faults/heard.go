package faults

import (
	"bytes"
	"io"
	"time"
)

// failed is how the suite begins the report of a spec that failed.
var failed = []byte("[FAILED]")

// A heard notes when the suite told its first failure: what it does after that,
// such as taking away what it made, keeps nobody waiting for the cause.
type firstFailureWriter struct {
	io.Writer
	at   time.Time
	tail []byte
}

// Write passes on what the suite prints. The mark may come in two pieces.
func (h *firstFailureWriter) Write(printed []byte) (int, error) {
	if h.at.IsZero() {
		seen := append(h.tail, printed...)
		if bytes.Contains(seen, failed) {
			h.at = time.Now()
		}
		h.tail = bytes.Clone(seen[max(0, len(seen)-len(failed)):])
	}
	return h.Writer.Write(printed)
}
