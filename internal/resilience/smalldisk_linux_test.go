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

// holdSmallDisk is the argument that makes the test binary mount a small disk.
const holdSmallDisk = "hold-small-disk"

// smallDisk is a directory with a small tmpfs in a mount namespace, which only processes started in the namespace see. It
// needs a kernel with user namespaces for this user, and nsenter of util-linux.
type smallDisk struct {
	dir     string // in the namespace
	pid     int    // of the process that holds the namespace
	nsenter string // path of the program
}

const diskSize = 16 << 20

// newSmallDisk mounts a small disk until the test ends. It skips the test where that is not possible.
func newSmallDisk(t *testing.T) smallDisk {
	t.Helper()
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		t.Skip("SKIPPED: a full disk needs nsenter (util-linux):", err)
	}
	dir := t.TempDir()
	keeper := exec.CommandContext(t.Context(), os.Args[0], holdSmallDisk, dir)
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
	return smallDisk{dir, keeper.Process.Pid, nsenter}
}

// runSmallDisk mounts a small disk in dir until the standard input ends.
func runSmallDisk(dir string) int {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", diskSize)); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// inside makes a command run where the disk is mounted.
func (r smallDisk) inside(cmd *exec.Cmd) *exec.Cmd {
	cmd.Args = append([]string{r.nsenter, "--target", strconv.Itoa(r.pid), "--user", "--mount", "--preserve-credentials", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = r.nsenter
	return cmd
}

// do runs a command where the disk is mounted.
func (r smallDisk) do(t *testing.T, name string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(name)
	must(t, err)
	out, err := r.inside(exec.CommandContext(t.Context(), path, args...)).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

// path returns the path of a file on the disk for this process.
func (r smallDisk) path(name string) string {
	return filepath.Join("/proc", strconv.Itoa(r.pid), "root", r.dir, name)
}

// fill uses all free space.
func (r smallDisk) fill(t *testing.T) {
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

// free frees the space that fill used.
func (r smallDisk) free(t *testing.T) {
	t.Helper()
	must(t, os.Remove(r.path("filler")))
}
