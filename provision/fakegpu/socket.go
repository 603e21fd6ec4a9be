package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

// longestSocketPath is what fits, in bytes, into sun_path of Linux's
// sockaddr_un beside its closing NUL: unix(7).
const longestSocketPath = 107

// socket is the plugin's own listening socket: one life of one file.
type socket struct {
	net.Listener
	path string
	file os.FileInfo
}

// listenSocket listens at path. A socket file that an earlier life left behind
// is replaced. It fails, and touches nothing, when another process listens
// there or when the file is no socket.
func listenSocket(path string) (*socket, error) {
	if err := clearSocket(path); err != nil {
		return nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listening for kubelet: %w", err)
	}
	// Go would unlink whatever bears the name by then; remove looks first.
	listener.SetUnlinkOnClose(false)
	file, err := os.Lstat(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("our socket vanished as soon as it was made: %w", err), listener.Close())
	}
	return &socket{Listener: listener, path: path, file: file}, nil
}

func clearSocket(path string) error {
	file, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for an earlier socket: %w", err)
	}
	if file.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is in the way and is no socket: remove it", path)
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		return errors.Join(fmt.Errorf("another plugin is serving %s: only one can offer a resource on a node; stop that one", path), conn.Close())
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("cannot tell whether another plugin is serving %s: %w", path, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the socket that an earlier life left behind: %w", err)
	}
	return nil
}

// check fails when the socket's file is gone or has been replaced, as after
// kubelet, starting, has wiped the directory: nobody can connect any more.
func (s *socket) check() error {
	return sameLife("our socket", s.path, s.file)
}

// remove deletes the socket's file, but never another that took its place.
func (s *socket) remove() {
	if s.check() == nil {
		_ = os.Remove(s.path) // at worst it stays, and the next life replaces it
	}
}

// sameLife fails unless the file at path is still the one seen before. Inode
// numbers are used again at once on many file systems, so the time the file
// was made must be the same as well: nothing writes to a socket's file.
func sameLife(what, path string, before os.FileInfo) error {
	now, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("%s is gone: %w", what, err)
	}
	if !os.SameFile(before, now) || !before.ModTime().Equal(now.ModTime()) {
		return fmt.Errorf("%s %s has been replaced by a new one", what, path)
	}
	return nil
}
