// Command trial runs in the trial container where the lab program cannot: on a Mac,
// Docker's machine is a Linux.
package main

import "fmt"

func main() { fmt.Println("it works") }
