package images

import (
	"context"
	"fmt"
	"io"
)

// watched makes a reader that reports its progress in megabytes.
func watched(say func(string), doing string) func(io.Reader, int64) io.Reader {
	return func(in io.Reader, size int64) io.Reader {
		var read, reported int64
		return reading(func(buffer []byte) (int, error) {
			n, err := in.Read(buffer)
			read += int64(n)
			if read-reported > 1<<20 || reported == 0 {
				say(fmt.Sprintf("%s: %d of %d MB", doing, read/1e6, size/1e6))
				reported = read
			}
			return n, err
		})
	}
}

// while reads until ctx ends.
func while(ctx context.Context, in io.Reader) io.Reader {
	return reading(func(buffer []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return in.Read(buffer)
	})
}

// unwatched reads without a report.
func unwatched(in io.Reader, _ int64) io.Reader { return in }

type reading func([]byte) (int, error)

func (r reading) Read(buffer []byte) (int, error) { return r(buffer) }
