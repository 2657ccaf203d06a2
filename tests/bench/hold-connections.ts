import { openManyConnections } from "../support/many-connections.ts";

// Opens silent connections until its standard input ends. One process cannot open as many as a test needs.
const [port, count] = process.argv.slice(2).map(Number);
const held = await openManyConnections(port ?? 0, count ?? 0);
console.log(held.open());
await Bun.stdin.text();
process.exit();
