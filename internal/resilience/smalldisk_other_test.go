//go:build !linux

package resilience_test

// holdSmallDisk is empty: the small disk needs Linux.
const holdSmallDisk = ""

func runSmallDisk(string) int { return 1 }
