// Loaded before all tests. Elysia asks for a collection of the whole heap whenever it compiles a
// server. Tests create thousands of servers, and spent a sixth of their CPU time on that. The
// engine still collects as the heap grows.
const collect = Bun.gc;
Object.assign(Bun, { gc: (isSynchronous = false) => (isSynchronous ? collect(true) : 0) });
