// Command trial is what a container engine is tried with where the lab program
// itself does not run in a container: on a Mac, Docker's machine is a Linux.
package main

import "fmt"

func main() { fmt.Println("it works") }
