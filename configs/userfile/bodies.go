package userfile

import "path"

// HostName returns what names the host of a stored robots.txt: the name of its file, or
// that of the folder around it if the file itself is called robots.txt, as a crawler
// stores it (example.com/robots.txt). file is a path with slashes.
func HostName(file string) string {
	folder, base := path.Split(file)
	if around := path.Base(folder); base == "robots.txt" && folder != "" && around != "." && around != "/" {
		return around
	}
	return base
}
