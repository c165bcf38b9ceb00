package projects

const nowait = 0
