// The main() of test programs without one of their own.
#include "tests/catch_session.h"

int main(int argc, char** argv) { return catch_session::Run(argc, argv); }
