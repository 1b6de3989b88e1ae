package resilience_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// enterRoom is the first argument that makes the test binary keep a room.
const enterRoom = "enter-room"

// room is a folder with a small file system of its own, which only processes that were started in it see. It takes a
// kernel that lets this user make namespaces, and nsenter of util-linux.
type room struct {
	dir     string // as it is called inside
	pid     int    // of the process that keeps it
	nsenter string // the program that enters it
}

const roomSize = 16 << 20

// newRoom makes a room; the test's clean-up takes it away. The test is skipped where that cannot be.
func newRoom(t *testing.T) room {
	t.Helper()
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		t.Skip("SKIPPED: a full disk needs nsenter (util-linux):", err)
	}
	dir := t.TempDir()
	keeper := exec.CommandContext(t.Context(), os.Args[0], enterRoom, dir)
	keeper.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	stdin, err := keeper.StdinPipe()
	must(t, err)
	stdout, err := keeper.StdoutPipe()
	must(t, err)
	if err := keeper.Start(); err != nil {
		t.Skip("SKIPPED: a full disk needs a kernel that lets this user make namespaces:", err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = keeper.Wait()
	})
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "ready\n" {
		t.Skip("SKIPPED: a full disk needs a kernel that lets this user mount a tmpfs:", line)
	}
	return room{dir, keeper.Process.Pid, nsenter}
}

// keepRoom is the process that keeps a room until its standard input ends.
func keepRoom(dir string) int {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", roomSize)); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// inside makes a command run in the room.
func (r room) inside(cmd *exec.Cmd) *exec.Cmd {
	cmd.Args = append([]string{r.nsenter, "--target", strconv.Itoa(r.pid), "--user", "--mount", "--preserve-credentials", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = r.nsenter
	return cmd
}

// do runs a command in the room.
func (r room) do(t *testing.T, name string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(name)
	must(t, err)
	out, err := r.inside(exec.CommandContext(t.Context(), path, args...)).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

// path is a file of the room as it is called outside.
func (r room) path(name string) string {
	return filepath.Join("/proc", strconv.Itoa(r.pid), "root", r.dir, name)
}

// fill takes all the space that is left.
func (r room) fill(t *testing.T) {
	t.Helper()
	file, err := os.OpenFile(r.path("filler"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	must(t, err)
	defer func() { _ = file.Close() }()
	for size := 1 << 20; size >= 1; size /= 2 {
		for err == nil {
			_, err = file.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		err = nil
	}
}

// free gives the space back.
func (r room) free(t *testing.T) {
	t.Helper()
	must(t, os.Remove(r.path("filler")))
}
