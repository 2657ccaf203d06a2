/** A machine with monitors in 40 groups for the benchmarks of the admin page. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { startOwnedMachine } from "../support/admin-world.ts";
import { replyWith, startTarget } from "../support/target.ts";

const cities = ["Berlin", "Hamburg", "Munich", "Cologne", "Vienna", "Zurich", "Leipzig", "Bremen"];
const monitorsPerGroup = 25;

/** A machine with this many monitors that are up, in groups of 25, and a day of results. */
export async function createMonitors(count: number) {
  const snapshot = await startOwnedMachine();
  const site = await startTarget(replyWith(200));
  let first = "";
  let groupId = "";
  let groupName = "";
  for (let index = 0; index < count; index++) {
    const [group, number] = [Math.floor(index / monitorsPerGroup), index % monitorsPerGroup];
    if (number === 0) {
      const city = cities[group % cities.length] ?? "";
      groupName = group < cities.length ? city : `${city} ${Math.floor(group / cities.length) + 1}`;
      const about = { name: groupName, color: "blue", tags: ["production"] };
      groupId = (await snapshot.ask("POST", "/api/v1/monitor-groups", about)).id;
    }
    const { id } = await snapshot.ask("POST", "/api/v1/monitors", {
      type: "http",
      name: `Service ${number} of ${groupName}`,
      url: site.at(`/checkout-${group}-${number}`),
      interval: 86_400,
      retries: 0,
      groupId,
      ...(number % 5 === 0 && { tags: ["customers", "eu"] }),
    });
    first ||= id;
  }
  await site.waitUntilRequested(count);
  addDayOfResults(join(snapshot.box.dataDir, "signalbox.db"));
  return {
    ...snapshot,
    site,
    first,
    async [Symbol.asyncDispose]() {
      await snapshot[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    },
  };
}

function addDayOfResults(path: string) {
  const database = new Database(path);
  database.run("PRAGMA busy_timeout = 5000");
  const add = database.query(
    `INSERT INTO uptime_hours SELECT ?, key, ?, 0, ?, 0, 0, 60, 2400, 12, 90, NULL FROM monitor_states
     WHERE true ON CONFLICT DO NOTHING`,
  );
  const hour = Math.floor(Date.now() / 3_600_000);
  database.transaction(() => {
    for (let back = 1; back < 24; back++) add.run(hour - back, 3_600 - back, back);
  })();
  database.close();
}
