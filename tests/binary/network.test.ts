import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { binary } from "../support/binary.ts";
import { createNetwork } from "../support/network.ts";
import { createMachineWithKey } from "../support/machine.ts";
import { waitUntil } from "../support/poll.ts";

const serveShop = `
  const shop = Bun.serve({ hostname: process.argv[1], port: 0, fetch: () => new Response("ok") });
  console.log(shop.port);
`;
const askOnce = `
  const [url, key, method, body] = JSON.parse(process.argv[1]);
  const headers = { Authorization: "Bearer " + key, "Content-Type": "application/json" };
  const isUp = () => fetch(url).then(() => true, () => Bun.sleep(20));
  while (!(await isUp()));
  const answer = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
  console.log(await answer.text());
`;

async function readFirstLine(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string[]> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) return text.split("\n");
  return [];
}

const possible = createNetwork();
possible?.[Symbol.dispose]();
if (possible === null)
  console.warn("\nNOT TESTED: a network that is gone; only root can make one (iproute2)\n");

test.skipIf(possible === null)(
  "an appliance without a network reports no target as down, reports that once, and judges again when it is back",
  async () => {
    using lan = createNetwork();
    if (lan === null) throw new Error("A network could be made a moment ago.");
    await using box = await createMachineWithKey();
    const { here, there } = lan;
    const shop = Bun.spawn(here.command(process.execPath, "-e", serveShop, here.address), {
      stdout: "pipe",
    });
    const [port] = await readFirstLine(shop.stdout);
    const serve = [binary, "serve", "--data-dir", box.dataDir, "--port", "3210"];
    const child = Bun.spawn(there.command(...serve), { stdout: "ignore", stderr: "ignore" });
    /** Sends a request on its own machine, as soon as it responds. */
    const requestParts = async (method: string, path: string, body?: object) => {
      const request = JSON.stringify([`http://127.0.0.1:3210${path}`, box.key, method, body]);
      const run = there.command(process.execPath, "-e", askOnce, request);
      return JSON.parse(await Bun.readableStreamToText(Bun.spawn(run).stdout));
    };
    try {
      const { data } = await requestParts("POST", "/api/v1/monitors", {
        type: "http",
        name: "Shop",
        url: `http://${here.address}:${port}`,
        interval: 5,
        timeout: 4,
        retries: 0,
      });
      // Unplugged, it is unreachable from here; its results are read from the disk.
      const readHeartbeats = () => {
        using database = new Database(join(box.dataDir, "signalbox.db"), { readonly: true });
        return database.query<{ status: number }, []>("SELECT status FROM heartbeats").all();
      };
      await waitUntil(() => readHeartbeats().length > 0);
      lan.unplug();
      await waitUntil(() => readHeartbeats().filter(({ status }) => status === 3).length >= 2);
      lan.plug();
      await waitUntil(() => readHeartbeats().at(-1)?.status === 0);
      expect(new Set(readHeartbeats().map(({ status }) => status))).toEqual(new Set([0, 3]));
      const response = await requestParts("GET", `/api/v1/monitors/${data.id}`);
      expect(response.data).toMatchObject({ status: "up", uptime24h: 1 });
      using database = new Database(join(box.dataDir, "signalbox.db"), { readonly: true });
      const message = database.query(`SELECT type FROM events
        WHERE type IN ('monitor.up', 'monitor.down', 'appliance.troubled') ORDER BY seq`);
      expect(message.values().flat()).toEqual(["monitor.up", "appliance.troubled"]);
    } finally {
      for (const process of [child, shop]) {
        process.kill("SIGKILL");
        await process.exited;
      }
    }
  },
);
