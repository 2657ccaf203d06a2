import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { binary, freePort, untilHealthy } from "../support/binary.ts";
import { network } from "../support/network.ts";
import { clientOf, machineWithKey } from "../support/outside.ts";

const possible = network();
possible?.[Symbol.dispose]();
if (possible === null)
  console.warn("\nNOT TESTED: a network that is gone; only root can make one (iproute2)\n");

test.skipIf(possible === null)(
  "an unplugged appliance takes nobody for down, says so once, and judges again when it is plugged in",
  async () => {
    using lan = network();
    if (lan === null) throw new Error("A network could be made a moment ago.");
    await using box = await machineWithKey();
    using shop = Bun.serve({ hostname: lan.here, port: 0, fetch: () => new Response("ok") });
    const port = freePort();
    const serve = [binary, "serve", "--data-dir", box.dataDir, "--port", String(port)];
    const child = Bun.spawn(lan.inside(...serve), { stdout: "ignore", stderr: "ignore" });
    try {
      const url = `http://${lan.there}:${port}`;
      await untilHealthy(url);
      const api = clientOf(url, box.key);
      const { json } = await api("POST", "/api/v1/monitors", {
        type: "http",
        name: "Shop",
        url: shop.url.href,
        interval: 5,
        timeout: 4,
        retries: 0,
      });
      const { id } = json.data;
      // Unplugged, it answers nobody here; its results are read from the disk.
      const beats = () => {
        using database = new Database(join(box.dataDir, "signalbox.db"), { readonly: true });
        return database.query<{ status: number }, []>("SELECT status FROM heartbeats").all();
      };
      const until = async (isSo: () => boolean) => {
        while (!isSo()) await Bun.sleep(20);
      };
      await until(() => beats().length > 0);
      lan.unplug();
      await until(() => beats().filter(({ status }) => status === 3).length >= 2);
      lan.plug();
      await until(() => beats().at(-1)?.status === 0);
      expect(new Set(beats().map(({ status }) => status))).toEqual(new Set([0, 3]));
      const now = (await api("GET", `/api/v1/monitors/${id}`)).json.data;
      expect(now).toMatchObject({ status: "up", uptime24h: 1 });
      using database = new Database(join(box.dataDir, "signalbox.db"), { readonly: true });
      const told = database.query(`SELECT type FROM events
        WHERE type IN ('monitor.up', 'monitor.down', 'appliance.troubled') ORDER BY seq`);
      expect(told.values().flat()).toEqual(["monitor.up", "appliance.troubled"]);
    } finally {
      child.kill("SIGKILL");
      await child.exited;
    }
  },
);
