import { expect, test } from "bun:test";
import { getFreePort } from "../support/binary.ts";
import { createMachineWithKey } from "../support/machine.ts";
import { listPaths, listSpellings } from "../support/odd-paths.ts";
import { api, dashboard } from "../support/routes.ts";
import { dialPort, buildRequestHead } from "../support/raw-connection.ts";

/** Paths that a URL parser would normalize before sending. */
const raw = [
  "/../../etc/passwd",
  "/status/../../x",
  "/./metrics",
  "//",
  "//evil.example/metrics",
  "/metrics\\..\\x",
  "/status/\xff\xfe",
  "/push/\x7f",
  "http://evil.example/metrics",
  "http://evil.example/push/%ff",
  "*",
  "metrics",
  "/#/metrics",
  "/metrics#x",
  "/?",
  "/status/acme?\xff=%",
  `/${"x".repeat(12_000)}`,
];

test("no path in any spelling gets a 5xx on either port", async () => {
  await using box = await createMachineWithKey();
  const publicPort = getFreePort();
  const flags = ["--public-port", String(publicPort), "--rate-limit", "0"];
  const { port, child } = await box.serve({ flags });
  const routes = [
    ...api.routes,
    ...dashboard.routes,
    { path: "/metrics" },
    { path: "/assets/none.js" },
  ];
  // Each route once; tests/http covers the differences between similar routes.
  const variants = listPaths(routes).flatMap((path, index) => {
    const all = listSpellings(path);
    return [path, all[index % all.length] ?? path];
  });
  const wrong: string[] = [];
  for (const at of [port, publicPort])
    for (const [index, path] of [...raw, ...new Set(variants)].entries()) {
      const method = ["GET", "POST", "OPTIONS"][index % 3] ?? "GET";
      const line = await dialPort(at);
      line.send(
        buildRequestHead(`${method} ${path}`, box.key, ["Host: localhost", "Connection: close"]),
      );
      const response = await line.waitForText(/\r\n\r\n/);
      line.hangUp();
      if (!/^HTTP\/1\.1 [234]\d\d /.test(response))
        wrong.push(`${method} ${path.slice(0, 80)}: ${response.slice(0, 40)}`);
    }
  expect(wrong).toEqual([]);
  expect(child.exitCode).toBeNull();
});
