import { check } from "./checking.ts";

// Makes one check in a process of its own, with what its environment says: `check-once.ts <type> <fields as JSON>`.

const [type = "http", fields = "{}"] = process.argv.slice(2);
console.log(JSON.stringify(await check(type as Parameters<typeof check>[0], JSON.parse(fields))));
