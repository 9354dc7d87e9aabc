package farm

import (
	"net"

	"golang.org/x/sys/unix"
)

// established reports whether neither side has closed c.
func established(c *net.TCPConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	open := false
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		open = err == nil && info.State == 1 // TCP_ESTABLISHED of linux/tcp_states.h
	})
	return err == nil && open
}
