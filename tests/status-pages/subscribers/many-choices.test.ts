/** A model of 2,000 subscribers with random choices: each gets exactly what they chose, once, through crashes. */
import { expect, test } from "bun:test";
import { severities } from "../../../src/core/statuses.ts";
import { createId } from "../../../src/core/ids.ts";
import { SubscriberFanOut } from "../../../src/status-pages/subscribers/fan-out.ts";
import {
  confirmSubscriber,
  updateSubscriber,
} from "../../../src/status-pages/subscribers/service.ts";
import { createPublisher, type Publisher } from "../../support/publisher.ts";
import { buildSection } from "../../support/visitor.ts";

const count = 2_000;
const seed = Number(process.env["SEED"] ?? 35);

/** Returns random numbers from 0 to 1 (mulberry32). */
function createRandom(state: number) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Severity = (typeof severities)[number];
type Modeled = {
  id: string;
  /** Whether the mail server rejected the address. */
  isQuarantined: boolean;
  incidents: boolean;
  maintenance: boolean;
  minimumSeverity: Severity;
  components: { monitorIds: string[]; groupIds: string[] } | null;
};

const random = createRandom(seed);
const isLucky = (share: number) => random() < share;
const pick = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T;
const pickSome = <T>(all: readonly T[], most: number) =>
  all.filter(() => isLucky(most / all.length));

async function createWorld(publisher: Publisher) {
  const groupIds: string[] = [];
  const groupOf = new Map<string, string | null>();
  for (const name of ["Shop", "Office", "Lab"]) {
    const group = await publisher.api("POST", "/api/v1/monitor-groups", { body: { name } });
    groupIds.push(group.json.data.id);
  }
  for (let number = 0; number < 12; number++) {
    const groupId = groupIds[number % 4] ?? null;
    const body = { name: `M${number}`, type: "ping", host: `m${number}.lan`, groupId };
    groupOf.set((await publisher.monitor(body)).id, groupId);
  }
  const single = [...groupOf].flatMap(([id, groupId]) => (groupId === null ? [id] : []));
  await publisher.publish({
    sections: [
      ...groupIds.map((groupId) => ({ groupId, monitors: [] })),
      buildSection("Others", ...single),
    ],
  });
  return { groupIds, groupOf };
}

/** Stores subscribers directly, because 2,000 requests would take long. */
async function addSubscribers(
  publisher: Publisher,
  { groupIds, groupOf }: Awaited<ReturnType<typeof createWorld>>,
): Promise<Modeled[]> {
  const all = Array.from({ length: count }, (): Modeled => {
    const incidents = isLucky(0.8);
    return {
      id: createId(publisher.time.now),
      isQuarantined: isLucky(0.1),
      incidents,
      maintenance: !incidents || isLucky(0.6),
      minimumSeverity: pick(severities),
      components: isLucky(0.4)
        ? null
        : { monitorIds: [pick([...groupOf.keys()])], groupIds: pickSome(groupIds, 0.7) },
    };
  });
  await publisher.store.atomic([
    {
      text: `insert into subscribers (organization_id, id, page_id, type, address, address_key, secrets,
          incidents, minimum_severity, maintenance, components, confirmed_at, heard_from, by_visitor,
          asked, version, created_at, language, quarantined_at)
        select ?, value ->> 'id', ?, iif(key % 3, 'email', iif(key % 2, 'webhook', 'slack')), 'a' || key || '@b.example',
          'a' || key || '@b.example', '{}', iif(value ->> 'incidents', 1, 0), value ->> 'minimumSeverity',
          iif(value ->> 'maintenance', 1, 0), value -> 'components', '2026-11-20T10:00:00.000Z',
          (select max(seq) from events), 0, 0, 1, '2026-11-20T10:00:00.000Z', iif(key % 2, 'de', null),
          iif(value ->> 'isQuarantined', '2026-11-20T10:00:00.000Z', null) from json_each(?)`,
      parameters: [publisher.ours.id, publisher.pageId, JSON.stringify(all)],
    },
    {
      text: "update subscribers set components = null where components = 'null'",
      parameters: [],
    },
  ]);
  return all;
}

/** Changes the choice of some subscribers, and releases some quarantined addresses by their confirmation. */
async function changeSome(publisher: Publisher, subscribers: readonly Modeled[]) {
  const { scope } = publisher.ours;
  for (let number = 0; number < 8; number++) {
    const one = pick(subscribers);
    if (one.isQuarantined) await confirmSubscriber(scope, one.id);
    else {
      const choice = {
        incidents: true,
        maintenance: isLucky(0.5),
        minimumSeverity: pick(severities),
      };
      await updateSubscriber(scope, publisher.pageId, one.id, choice);
      Object.assign(one, choice);
    }
    one.isQuarantined = false;
  }
}

/** Processes the events. The power fails before some of the writes, and the appliance starts again. */
async function fanOutThroughCrashes(publisher: Publisher): Promise<number> {
  let crashes = 0;
  for (;;) {
    let left = isLucky(0.6) ? Math.floor(random() * 6) : Infinity;
    const atomic = publisher.store.atomic.bind(publisher.store);
    publisher.store.atomic = (statements) => {
      if (left-- > 0) return atomic(statements);
      return Promise.reject(new Error("The power failed."));
    };
    try {
      await new SubscriberFanOut({ ...publisher.appliance, rowsAtOnce: 140 }).runOnce();
      publisher.store.atomic = atomic;
      return crashes;
    } catch (error) {
      publisher.store.atomic = atomic;
      expect(String(error)).toContain("The power failed.");
      crashes++;
      await publisher.restart();
    }
  }
}

/** An incident in the model: its worst severity, and everything that it affected. */
type Affair = { id: string; worst: number; isWhole: boolean; affected: Set<string> };

test(`2,000 subscribers get exactly what they chose, once, through crashes (seed ${seed})`, async () => {
  await using publisher = await createPublisher();
  const world = await createWorld(publisher);
  const all = await addSubscribers(publisher, world);
  const { groupOf } = world;
  const expected = new Map<string, string[]>();
  const isChosen = ({ components }: Modeled, { isWhole, affected }: Omit<Affair, "id" | "worst">) =>
    components === null ||
    isWhole ||
    components.monitorIds.some((id) => affected.has(id)) ||
    components.groupIds.some((groupId) => [...affected].some((id) => groupOf.get(id) === groupId));
  const planned: { id: string; heard: ReadonlySet<string>; scope: Omit<Affair, "id" | "worst"> }[] =
    [];
  const idsOf = (those: readonly Modeled[]) => those.map(({ id }) => id).toSorted();
  const open: Affair[] = [];
  let crashes = 0;
  for (let step = 0; step < 20; step++) {
    publisher.time.now += 60_000;
    await changeSome(publisher, all);
    const subscribers = all.filter(({ isQuarantined }) => !isQuarantined);
    const message = `Step ${step}`;
    const affair = open.length > 2 || (open.length > 0 && isLucky(0.5)) ? pick(open) : null;
    const monitorIds = isLucky(0.2) ? [] : pickSome([...groupOf.keys()], 2);
    const severity = pick(severities);
    const isWhole = monitorIds.length === 0;
    if (planned.length > 0 && isLucky(0.2)) {
      const [{ id, heard, scope }] = planned.splice(0, 1) as [(typeof planned)[number]];
      await publisher.api("DELETE", `/api/v1/maintenance-windows/${id}`);
      const hearing = subscribers.filter(
        (one) => one.maintenance && heard.has(one.id) && isChosen(one, scope),
      );
      expected.set(`cancelled ${id}`, idsOf(hearing));
    } else if (isLucky(0.35)) {
      const startsAt = "2026-11-22T02:00:00Z";
      const { id } = await publisher.planWindow({ title: message, monitorIds, startsAt });
      const scope = { isWhole, affected: new Set(monitorIds) };
      const hearing = idsOf(subscribers.filter((one) => one.maintenance && isChosen(one, scope)));
      expected.set(message, hearing);
      planned.push({ id, heard: new Set(hearing), scope });
    } else {
      const known = affair ?? { id: "", worst: 0, isWhole: false, affected: new Set<string>() };
      if (affair === null) {
        known.id = (
          await publisher.createIncident({ title: "x", message, severity, monitorIds })
        ).id;
        open.push(known);
      } else {
        await publisher.postUpdate(known.id, { severity, monitorIds });
        await publisher.postUpdate(known.id, { message });
      }
      known.worst = Math.max(known.worst, severities.indexOf(severity));
      known.isWhole ||= isWhole;
      for (const id of monitorIds) known.affected.add(id);
      const hearing = subscribers.filter(
        (one) =>
          one.incidents &&
          severities.indexOf(one.minimumSeverity) <= known.worst &&
          isChosen(one, known),
      );
      expected.set(message, idsOf(hearing));
    }
    crashes += await fanOutThroughCrashes(publisher);
  }
  const rows = publisher.database
    .query(
      `select iif(n.type = 'maintenance.cancelled', 'cancelled ' || (n.data ->> 'id'),
          coalesce(n.data ->> 'message', n.data ->> 'title')) as step, d.receiver_id as id
       from deliveries d join notices n on n.id = d.notice_id order by n.id, d.receiver_id`,
    )
    .all() as { step: string; id: string }[];
  const received = Map.groupBy(rows, ({ step }) => step);
  for (const [step, ids] of expected)
    expect([step, received.get(step)?.map(({ id }) => id) ?? []]).toEqual([step, ids]);
  expect(rows).toHaveLength([...expected.values()].flat().length);
  expect([...expected.keys()].filter((step) => step.startsWith("cancelled"))).not.toEqual([]);
  expect(crashes).toBeGreaterThan(3);
}, 60_000);
