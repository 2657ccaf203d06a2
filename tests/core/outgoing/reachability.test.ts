import { expect, test } from "bun:test";
import { join } from "node:path";
import { fakes } from "../../support/fakes/all.ts";
import { createNetwork } from "../../support/network.ts";

test("an unreachable host is not reported as refusing", async () => {
  using machines = createNetwork();
  if (machines === null) return console.warn("\nNOT TESTED: no network can be made here\n");
  const { here, there } = machines;
  Bun.spawnSync(here.command("ip", "route", "add", "unreachable", "10.214.0.0/24"));
  const addresses = { noNeighbor: "10.213.0.77", noService: there.address, noRoute: "10.214.0.1" };
  const script = join(import.meta.dir, "../../support/refusals.ts");
  const command = here.command(process.execPath, script, ...Object.values(addresses));
  const run = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
  const found = JSON.parse(await new Response(run.stdout).text()) as [string, string][];
  const unreachable = "The host can't be reached.";
  expect(Object.fromEntries(found)).toEqual({
    [addresses.noNeighbor]: unreachable,
    [addresses.noService]: "The connection was refused.",
    [addresses.noRoute]: unreachable,
    ...Object.fromEntries(
      [...Object.keys(fakes), "http", "tls"].map((type) => [type, unreachable]),
    ),
  });
});
