package sqlite_test

import "context"

var ctx = context.Background()

func helper(job string) int { return 1 }
