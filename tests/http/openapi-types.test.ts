import { expect, test } from "bun:test";
import { join } from "node:path";
import openapiTypes, { astToString } from "openapi-typescript";
import { buildDocument } from "../../src/openapi-document.ts";
import { nounOf, sampleBodies } from "../support/records.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();

type Operation = {
  requestBody?: { content: Record<string, { schema?: { $ref?: string } }> };
};

/** Bodies that the API accepts, each declared as its operation's type. */
function clientOf(document: ReturnType<typeof buildDocument>): string[] {
  const schemas = document.components?.schemas as Record<
    string,
    { example?: object; required?: string[] }
  >;
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(
      ([method, operation]) => [path, method, operation] as const,
    ),
  );
  return operations.flatMap(([path, method, { requestBody }]) => {
    const schema = requestBody?.content["application/json"]?.schema;
    if (schema === undefined) return [];
    const named = schemas[schema.$ref?.split("/").pop() ?? ""];
    const noun = sampleBodies[nounOf(path)];
    const isCollection = method === "post" && path === `/api/v1/${nounOf(path)}`;
    const bodies = [
      isCollection ? noun?.create : undefined,
      method === "patch" && named?.required === undefined ? {} : undefined,
      named?.example,
    ];
    const type = `paths[${JSON.stringify(path)}]["${method}"]["requestBody"]["content"]["application/json"]`;
    return bodies
      .filter((body) => body !== undefined)
      .map((body) => `use<${type}>(${JSON.stringify(body)});`);
  });
}

test("types that openapi-typescript generates are valid, and accept the bodies that the API accepts", async () => {
  const document = buildDocument("1.0.0");
  const directory = newDirectory();
  const types = astToString(await openapiTypes(JSON.parse(JSON.stringify(document))));
  await Bun.write(join(directory, "api.ts"), types);
  const uses = clientOf(document);
  expect(uses.length).toBeGreaterThan(15);
  const client = [
    'import type { paths } from "./api";',
    "declare function use<T>(body: T): void;",
    ...uses,
    // A response has all of its fields, including those that are optional in a body.
    'declare const list: paths["/api/v1/incidents"]["get"]["responses"]["200"]["content"]["application/json"];',
    "export const severities: string[] = list.data.map(({ severity }) => severity);",
  ];
  await Bun.write(join(directory, "client.ts"), client.join("\n"));
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "esnext",
    module: "esnext",
    moduleResolution: "bundler",
    types: [],
  };
  const project = { compilerOptions, files: ["api.ts", "client.ts"] };
  await Bun.write(join(directory, "tsconfig.json"), JSON.stringify(project));
  const check = Bun.spawnSync([process.execPath, "check", "--no-pretty", "-p", directory]);
  expect([check.exitCode, check.exitCode === 0 ? "" : check.stdout.toString()]).toEqual([0, ""]);
});
