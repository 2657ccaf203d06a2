import { check } from "./checking.ts";

// Makes checks in a process of its own, with what its environment says: `check-once.ts` with a JSON list of types and fields.

const asked = JSON.parse(process.argv[2] ?? "[]") as [type: string, fields: object][];
console.log(JSON.stringify(await Promise.all(asked.map(([type, fields]) => check(type, fields)))));
