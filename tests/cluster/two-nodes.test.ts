import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { changeMember, resetPassword } from "../../src/accounts/people/service.ts";
import { listMembers } from "../../src/accounts/people/store.ts";
import { deleteOrganization } from "../../src/operations/appliance/service.ts";
import { listApiKeys, revokeApiKey } from "../../src/accounts/api-keys/service.ts";
import { formatTimestamp } from "../../src/core/time/clock.ts";
import { readSince } from "../../src/events/log.ts";
import { startInbox } from "../support/inbox.ts";
import { createApplianceClient, setUpToken } from "../support/appliance.ts";
import { openStream, type Notified } from "../support/live.ts";
import type { ServerClient } from "../support/machine.ts";
import { createSampleRecord } from "../support/records.ts";
import { runContractRound } from "../support/contract-round.ts";
import { hasRqlite, type RqliteNode, startOneNode } from "../support/rqlite.ts";
import { createRandom } from "../support/seeded.ts";
import { requestPublished, createTwoNodes } from "../support/two-nodes.ts";
import { signInMember, createBrowser, password, sortStatuses } from "../support/people.ts";
import { findWrongGroups } from "../soak/invariants.ts";
import { waitUntil } from "../support/poll.ts";

describe.skipIf(!hasRqlite)("two servers over one database", () => {
  let database: RqliteNode;
  let nodes: Awaited<ReturnType<typeof createTwoNodes>>;
  /** Responses to two concurrent set-ups, one at each server. */
  let claims: { status: number }[];

  beforeAll(async () => {
    database = await startOneNode();
    nodes = await createTwoNodes([database], {
      limits: { monitors: 5 },
      allowTarget: ["127.0.0.1/32"],
    });
    const worlds = await nodes.world();
    claims = await Promise.all(
      worlds.map((node, i) =>
        createBrowser(node).post("/set-up", {
          token: setUpToken,
          organization: `Claim ${i}`,
          name: "Ada",
          email: "ada@team.example",
          password,
        }),
      ),
    );
  });
  afterAll(async () => {
    await nodes.stop();
    await database.kill();
  });

  test("only one of two concurrent set-ups succeeds, one at each server", () => {
    expect(sortStatuses(claims)).toEqual([201, 409]);
  });

  describe("an open page", () => {
    const isChange = ({ event }: Notified) => event === "change";
    const subjectOf = ({ data }: Notified) => data.subjectId as string;

    test("receives every event once and in log order, from either server", async () => {
      const [a, b] = await nodes.world();
      const viewer = await signInMember(a, "viewer");
      const pages = await Promise.all([a, b].map((node) => openStream(node, viewer.cookie)));
      for (const page of pages) await page.readUntil(({ event }) => event === "hello");
      const count = 40;
      const receptions = pages.map(async (page) => {
        const all: Notified[] = [];
        while (all.length < count) all.push(...(await page.readUntil(isChange)).filter(isChange));
        return all.map(subjectOf);
      });
      const writes = Array.from({ length: count }, (_, i) =>
        createSampleRecord((i % 2 ? a : b).ours.api, "incidents"),
      );
      const written = await Promise.all(writes);
      const log = (await readSince(a.store, 0, 10_000))
        .filter(
          ({ type, organizationId }) => type === "incident.opened" && organizationId === a.ours.id,
        )
        .map(({ subjectId }) => subjectId);
      expect(log.toSorted()).toEqual(written.toSorted());
      expect(await Promise.all(receptions)).toEqual([log, log]);
    });

    test("continues at another server where it was interrupted", async () => {
      const [a, b] = await nodes.world();
      const viewer = await signInMember(a, "viewer");
      const before = await openStream(a, viewer.cookie);
      const ids = [await createSampleRecord(b.ours.api, "incidents")];
      const last = (await before.readUntil(isChange)).at(-1);
      await before.leave();
      for (const { ours } of [a, b]) ids.push(await createSampleRecord(ours.api, "incidents"));
      const headers = { "Last-Event-ID": last?.id ?? "" };
      const after = await openStream(b, viewer.cookie, { headers });
      const received: Notified[] = [];
      while (received.filter(isChange).length < 2)
        received.push(...(await after.readUntil(isChange)));
      expect(received.map(({ event }) => event)).not.toContain("reset");
      expect([last, ...received.filter(isChange)].map((one) => subjectOf(one as Notified))).toEqual(
        ids,
      );
    });

    test("closes when its session ends at the other server", async () => {
      const [a, b] = await nodes.world();
      const member = await signInMember(a, "member");
      const page = await openStream(b, member.cookie);
      await page.next();
      expect((await member.page("POST", "/dashboard/sign-out")).status).toBe(200);
      while ((await page.next()) !== null);
    });
  });

  describe("a right that is revoked at one server", () => {
    test("is revoked at once at the other: session, role and two-factor", async () => {
      const [a, b] = await nodes.world();
      const admin = await signInMember(a, "admin");
      const requestAtB = (method: string, path: string, body?: object) =>
        b.client(null)(method, path, {
          headers: { Cookie: admin.cookie, "Sec-Fetch-Site": "same-origin" },
          ...(body && { body }),
        });
      const invite = { email: "new@team.example", role: "viewer" };
      expect((await requestAtB("POST", "/dashboard/invitations", invite)).status).toBe(201);
      await changeMember(a.ours.scope, admin.id, { role: "viewer" });
      expect((await requestAtB("POST", "/dashboard/invitations", invite)).status).toBe(403);
      expect((await requestAtB("GET", "/dashboard/overview")).status).toBe(200);
      const reset = { password: "another long password", withoutTwoFactor: true };
      await resetPassword(a.ours.scope, admin.email, reset);
      expect((await requestAtB("GET", "/dashboard/overview")).status).toBe(401);
    });

    test("is revoked for a key after at most 500 ms, and for a deleted organization", async () => {
      const [a, b] = await nodes.world();
      using stopped = new DisposableStack();
      stopped.defer(() => (nodes.time.heldAt = null));
      nodes.time.heldAt = Date.now();
      const { key, id } = await a.ours.keyOf("read");
      const clientOfB = createApplianceClient(b.app, key);
      const path = "/api/v1/incidents";
      expect((await clientOfB("GET", path)).status).toBe(200);
      await revokeApiKey(a.ours.scope, id);
      nodes.time.ahead += 500;
      expect((await clientOfB("GET", path)).status).toBe(401);

      expect((await b.ours.api("GET", path)).status).toBe(200);
      const { store, time } = a;
      const actor = { type: "command-line", id: null, name: "test" } as const;
      await deleteOrganization({ store, clock: () => time.now, requestId: null, actor }, a.ours.id);
      const body = { title: "Late" };
      expect((await b.ours.api("POST", path, { body })).status).toBe(404);
      nodes.time.ahead += 500;
      expect((await b.ours.api("GET", path)).status).toBe(401);
    });
  });

  test("one server's last use of a key does not overwrite the other's later one", async () => {
    const [a, b] = await nodes.world();
    await b.ours.reader("GET", "/api/v1/incidents");
    nodes.time.ahead += 60_000;
    await a.ours.reader("GET", "/api/v1/incidents");
    const readLastUse = async () => {
      const keys = await listApiKeys(a.ours.scope);
      return keys.find(({ id }) => id === a.ours.readKey.id)?.lastUsedAt ?? "";
    };
    await a.store.atomic(a.appliance.keys.collectLastUses());
    const last = await readLastUse();
    await b.store.atomic(b.appliance.keys.collectLastUses());
    expect([last > formatTimestamp(nodes.time.now - 60_000), await readLastUse()]).toEqual([
      true,
      last,
    ]);
  });

  test("a public page that one server hides disappears from the other's cache", async () => {
    const [a, b] = await nodes.world();
    const [page] = (await a.ours.api("GET", "/api/v1/status-pages")).json.data;
    const path = `/status/${page.slug}`;
    const waitForText = async (text: string) => {
      await waitUntil(
        async () => (await requestPublished(b, path))?.text.includes(text) === true,
        20,
      );
    };
    await waitForText("Ours");
    const body = { title: "Slow answers" };
    expect((await a.ours.api("POST", "/api/v1/incidents", { body })).status).toBe(201);
    await waitForText("Slow answers");
    const hidden = { body: { visibility: "hidden" } };
    expect((await a.ours.api("PATCH", `/api/v1/status-pages/${page.id}`, hidden)).status).toBe(200);
    await waitForText("Nothing here");
  });

  test("a write at one server is read at the other, with the same ETag", async () => {
    const [a, b] = await nodes.world();
    const path = `/api/v1/incidents/${await createSampleRecord(a.ours.api, "incidents")}`;
    for (const [writer, reader] of [
      [a, b],
      [b, a],
      [a, b],
    ] as const) {
      const body = { message: "Looking." };
      const [written, read] = [
        await writer.ours.api("PATCH", path, { body }),
        await reader.ours.api("GET", path),
      ];
      expect([written.status, read.json]).toEqual([200, written.json]);
      expect(read.headers.get("etag")).toBe(written.headers.get("etag"));
      const headers = { "If-None-Match": read.headers.get("etag") ?? "" };
      expect((await writer.ours.reader("GET", path, { headers })).status).toBe(304);
    }
  });

  test("one Idempotency-Key at both servers at once has one effect, and one response or a 409", async () => {
    const [a, b] = await nodes.world();
    for (let round = 0; round < 5; round++) {
      const request = {
        body: { title: `Round ${round}` },
        headers: { "Idempotency-Key": `${round}` },
      };
      const responses = await Promise.all(
        [a, b, a, b].map(({ ours }) => ours.api("POST", "/api/v1/incidents", request)),
      );
      const [first, ...others] = responses.filter(({ status }) => status === 201);
      for (const { text } of others) expect(text).toBe(first?.text ?? "");
      for (const { status, json } of responses.filter(({ status }) => status !== 201))
        expect([status, json.error.code]).toEqual([409, "CONFLICT"]);
      for (const { ours } of [a, b]) {
        const again = await ours.api("POST", "/api/v1/incidents", request);
        expect([again.text, again.headers.get("idempotency-replayed")]).toEqual([
          first?.text ?? "",
          "true",
        ]);
      }
      const { total } = (await a.ours.api("GET", "/api/v1/incidents")).json.meta;
      expect(total).toBe(round + 1);
    }
  });

  test("one Idempotency-Key at both servers at once posts one update, and If-Match rejects neither", async () => {
    const [a, b] = await nodes.world();
    const path = `/api/v1/incidents/${await createSampleRecord(a.ours.api, "incidents")}`;
    for (let round = 1; round <= 5; round++) {
      const etag = (await a.ours.api("GET", path)).headers.get("etag") ?? "";
      const request = {
        body: { message: `Round ${round}` },
        headers: { "Idempotency-Key": `${round}`, "If-Match": etag },
      };
      const responses = await Promise.all(
        [a, b, a, b].map(({ ours }) => ours.api("PATCH", path, request)),
      );
      const [first] = responses.filter(({ status }) => status === 200);
      for (const { status, text } of responses)
        expect([status, text]).toEqual(
          status === 200 ? [200, first?.text ?? ""] : [409, expect.stringContaining("CONFLICT")],
        );
      for (const { ours } of [a, b])
        expect((await ours.api("PATCH", path, request)).text).toBe(first?.text ?? "");
      expect((await a.ours.api("GET", path)).json.data.updates).toHaveLength(round + 1);
    }
  });

  test("one Idempotency-Key at both servers at once sends one test alert", async () => {
    const [a, b] = await nodes.world();
    await using hook = await startInbox();
    const body = { type: "webhook", name: "Inbox", url: hook.at("/hook") };
    const { id } = (await a.ours.api("POST", "/api/v1/alert-channels", { body })).json.data;
    const path = `/api/v1/alert-channels/${id}/test`;
    for (let round = 1; round <= 3; round++) {
      const request = { headers: { "Idempotency-Key": `${round}` } };
      const responses = await Promise.all(
        [a, b, a, b].map(({ ours }) => ours.api("POST", path, request)),
      );
      const [first] = responses.filter(({ status }) => status === 200);
      for (const { status, text } of responses)
        expect([status, text]).toEqual(
          status === 200 ? [200, first?.text ?? ""] : [409, expect.stringContaining("CONFLICT")],
        );
      for (const { ours } of [a, b])
        expect((await ours.api("POST", path, request)).text).toBe(first?.text ?? "");
      expect(hook.listArrived()).toHaveLength(round);
    }
  });

  describe("concurrent requests at both servers", () => {
    test("create no more than the limit", async () => {
      const [a, b] = await nodes.world();
      const responses = await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          (i % 2 ? a : b).ours.api("POST", "/api/v1/monitors", {
            body: { type: "ping", name: `Router ${i}`, host: "192.168.1.1" },
          }),
        ),
      );
      expect(responses.filter(({ status }) => status === 201)).toHaveLength(5);
      expect((await b.ours.api("GET", "/api/v1/monitors")).json.meta.total).toBe(5);
    });

    test("give a unique name once", async () => {
      const [a, b] = await nodes.world();
      const body = { slug: "the-only-one", title: "Page" };
      const responses = await Promise.all(
        [a, b, a, b].map(({ ours }) => ours.api("POST", "/api/v1/status-pages", { body })),
      );
      expect(sortStatuses(responses)).toEqual([201, 409, 409, 409]);
    });

    test("accept an invitation once", async () => {
      const [a, b] = await nodes.world();
      const owner = await signInMember(a, "owner");
      const body = { email: "bea@team.example", role: "member" };
      const { link } = (await owner.page("POST", "/dashboard/invitations", { body })).json.data;
      const token = link.split("#")[1];
      const accept = { token, name: "Bea", password: "another long password" };
      const responses = await Promise.all(
        [a, b].map((node) => createBrowser(node).post("/invitations/accept", accept)),
      );
      expect(sortStatuses(responses)).toEqual([200, 404]);
      const members = await listMembers(b.ours.scope);
      expect(members.map(({ name }) => name).toSorted()).toEqual(["Bea", "owner"]);
    });

    test("leave an organization with an owner", async () => {
      const [a, b] = await nodes.world();
      const owners = [
        await signInMember(a, "owner"),
        await signInMember(a, "owner", { name: "other" }),
      ];
      const [one, other] = owners.map(({ id }) => id) as [string, string];
      const changed = await Promise.allSettled([
        changeMember(a.ours.scope, one, { role: "member" }),
        changeMember({ ...b.ours.scope, store: b.store }, other, { role: "member" }),
      ]);
      expect(changed.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    });

    test("store every update of an incident once, and never accept a stale If-Match", async () => {
      const [a, b] = await nodes.world();
      const path = `/api/v1/incidents/${await createSampleRecord(a.ours.api, "incidents")}`;
      const messages = Array.from({ length: 12 }, (_, i) => `Update ${i}`);
      const responses = await Promise.all(
        messages.map((message, i) =>
          (i % 2 ? a : b).ours.api("PATCH", path, { body: { message } }),
        ),
      );
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
      const { updates } = (await b.ours.api("GET", path)).json.data;
      const notified = updates.map(({ message }: { message: string }) => message);
      expect(notified.slice(1).toSorted()).toEqual(messages.toSorted());
      const headers = { "If-Match": (await a.ours.api("GET", path)).headers.get("etag") ?? "" };
      const body = { message: "The only one" };
      const guarded = await Promise.all(
        [a, b, a, b].map(({ ours }) => ours.api("PATCH", path, { body, headers })),
      );
      expect(sortStatuses(guarded)).toEqual([200, 412, 412, 412]);
    });

    test("leave a monitor in one group, at one position, with the group's channels", async () => {
      const [a, b] = await nodes.world();
      const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
      const random = createRandom(seed);
      const pickOne = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
      const { api } = a.ours;
      const channel = await createSampleRecord(api, "alert-channels");
      const groups = await Promise.all(
        [0, 1, 2].map(() =>
          createSampleRecord(api, "monitor-groups", { alertChannelIds: [channel] }),
        ),
      );
      const monitors = await Promise.all(
        [0, 1, 2, 3].map(() => createSampleRecord(api, "monitors")),
      );
      const moves = Array.from({ length: 16 }, () => {
        const { ours } = pickOne([a, b]);
        const [monitorId, groupId] = [pickOne(monitors), pickOne(groups)];
        return random() < 0.5
          ? ours.api("PATCH", `/api/v1/monitors/${monitorId}`, { body: { groupId } })
          : ours.api("PATCH", `/api/v1/monitor-groups/${groupId}`, {
              body: { monitorIds: monitors.filter(() => random() < 0.4) },
            });
      });
      const responses = await Promise.all(moves);
      expect([seed, ...new Set(responses.map(({ status }) => status))]).toEqual([seed, 200]);
      const readList = async (noun: string) =>
        (await b.ours.api("GET", `/api/v1/${noun}`)).json.data;
      const [allGroups, all] = [await readList("monitor-groups"), await readList("monitors")];
      expect([seed, findWrongGroups(allGroups, all)]).toEqual([seed, []]);
      const grouped = all.filter(({ groupId }: { groupId: string | null }) => groupId !== null);
      for (const { alertChannelIds } of grouped) expect(alertChannelIds).toEqual([channel]);
      const places = a.database
        .query(
          "select group_id, position, count(*) as n from monitors where organization_id = ? group by 1, 2 having n > 1",
        )
        .values(a.ours.id);
      expect([seed, places]).toEqual([seed, []]);
    });
  });

  test("the contract holds for a client that alternates between the servers", async () => {
    const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
    console.log(`contract on two servers: SEED=${seed}`);
    const random = createRandom(seed);
    const [a, b] = await nodes.world();
    const requestEither =
      (key: string): ServerClient =>
      (method, path, body, headers) =>
        createApplianceClient((random() < 0.5 ? a : b).app, key)(method, path, {
          ...(body !== undefined && { body }),
          ...(headers && { headers }),
        });
    await runContractRound(
      requestEither(a.ours.writeKey.key),
      requestEither(a.theirs.writeKey.key),
    );
  });
});
