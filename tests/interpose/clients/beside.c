// The library that runpath.c loads.
int beside(void) { return 1; }
