import { afterEach, describe, expect, test } from "bun:test";
import type { Client } from "../../support/appliance.ts";
import { createDashboard } from "../../support/dashboard.ts";
import { openStream } from "../../support/live.ts";
import {
  addToOrganization,
  createBrowser,
  password,
  signInMember,
  signInVisitor,
} from "../../support/people.ts";
import { isOnRqlite } from "../../support/engines.ts";

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const live of running.splice(0)) await live.stop();
});

type Member = Awaited<ReturnType<typeof signInMember>>;

/** An owner, and an admin of ours who is a viewer of theirs, each with an open page. */
async function openSessions() {
  const dashboard = await createDashboard();
  await dashboard.live.start();
  running.push(dashboard.live);
  const owner = await signInMember(dashboard, "owner");
  const bea = await signInMember(dashboard, "admin", { name: "Bea" });
  await addToOrganization(dashboard, dashboard.theirs.id, bea.id, "viewer");
  const follow = async ({ cookie }: { cookie: string }, id: string) => {
    const stream = await openStream(dashboard, cookie, { query: `?organization=${id}` });
    await stream.next();
    return stream;
  };
  return { ...dashboard, made: dashboard, owner, bea, follow };
}

const ways: [
  what: string,
  lose: (owner: Member, id: string) => ReturnType<Client>,
  left: number,
][] = [
  [
    "a lower role",
    (owner, id) => owner.page("PATCH", `/dashboard/people/${id}`, { body: { role: "member" } }),
    200,
  ],
  ["removal", (owner, id) => owner.page("DELETE", `/dashboard/people/${id}`), 404],
];

for (const [what, lose, left] of ways)
  describe(`${what} in one organization`, () => {
    test("does not affect the others, in which the session continues", async () => {
      const { owner, bea, theirs, follow } = await openSessions();
      const other = await follow(bea, theirs.id);
      expect((await lose(owner, bea.id)).status).toBe(200);
      const { data } = (await bea.page("GET", "/dashboard/session")).json;
      expect([data.state, data.person.id]).toEqual(["signed-in", bea.id]);
      const headers = { "X-Organization": theirs.id };
      expect((await bea.page("GET", "/dashboard/people", { headers })).status).toBe(200);
      await theirs.api("POST", "/api/v1/incidents", { body: { title: "Slow" } });
      await other.readUntil(({ data }) => data.type === "incident.opened");
      await other.leave();
    });

    // On rqlite the two writes can have the other order.
    test.skipIf(isOnRqlite)(
      "closes their open pages there before later events, and ends their permissions",
      async () => {
        const { owner, bea, ours, api, follow } = await openSessions();
        const ownStream = await follow(bea, ours.id);
        const owners = await follow(owner, ours.id);
        const [answer] = await Promise.all([
          lose(owner, bea.id),
          api("POST", "/api/v1/incidents", { body: { title: "After" } }),
        ]);
        expect(answer.status).toBe(200);
        const receivedEvents: string[] = [];
        for (let told = await ownStream.next(); told !== null; told = await ownStream.next())
          receivedEvents.push(String(told.data.type));
        expect(receivedEvents.filter((type) => type.startsWith("incident."))).toEqual([]);
        await owners.readUntil(({ data }) => data.type === "incident.opened");
        await owners.leave();
        const headers = { "X-Organization": ours.id };
        expect((await bea.page("GET", "/dashboard/people", { headers })).status).toBe(left);
        expect((await bea.page("GET", "/dashboard/audit-log", { headers })).status).toBe(
          left === 200 ? 403 : 404,
        );
      },
    );

    test("revokes the keys that they created, and no others", async () => {
      const { owner, bea, ours, api, client, time, database } = await openSessions();
      const make = async ({ page }: Member) =>
        (
          await page("POST", "/dashboard/api-keys", {
            body: { name: "Script" },
            headers: { "X-Organization": ours.id },
          })
        ).json.data.key as string;
      const [hers, owners] = [await make(bea), await make(owner)];
      const requestStatus = async (key: string) =>
        (await client(key)("GET", "/api/v1/monitors")).status;
      expect([await requestStatus(hers), await requestStatus(owners)]).toEqual([200, 200]);
      await lose(owner, bea.id);
      time.now += 500;
      expect([await requestStatus(hers), await requestStatus(owners)]).toEqual([401, 200]);
      expect((await api("GET", "/api/v1/monitors")).status).toBe(200);
      const audited =
        "SELECT count(*) FROM audit_entries a WHERE action = 'api-key.revoked' AND subject_id = (SELECT id FROM api_keys WHERE created_by_id = ?)";
      expect(database.query(audited).values(bea.id)).toEqual([[1]]);
    });
  });

test("an owner who becomes an admin retains their keys, because admins can create them", async () => {
  const { owner, client, time, made } = await openSessions();
  const second = await signInMember(made, "owner");
  const { key } = (await second.page("POST", "/dashboard/api-keys", { body: { name: "Script" } }))
    .json.data;
  await owner.page("PATCH", `/dashboard/people/${second.id}`, { body: { role: "admin" } });
  time.now += 500;
  expect((await client(key)("GET", "/api/v1/monitors")).status).toBe(200);
});

test("a key that an admin creates while being demoted to member stops working", async () => {
  for (let round = 0; round < 5; round++) {
    const { owner, bea, client, time, ours } = await openSessions();
    const [, key] = await Promise.all([
      owner.page("PATCH", `/dashboard/people/${bea.id}`, { body: { role: "member" } }),
      bea.page("POST", "/dashboard/api-keys", {
        body: { name: "Script" },
        headers: { "X-Organization": ours.id },
      }),
    ]);
    time.now += 500;
    if (key.status === 403) continue;
    expect((await client(key.json.data.key)("GET", "/api/v1/monitors")).status).toBe(401);
  }
});

test("a sign-in that checks the old password while it is changed starts no session", async () => {
  const { bea, made } = await openSessions();
  const words = [password, "another long password", "a third long password", "the fourth password"];
  for (const [index, next] of words.slice(1).entries()) {
    const current = words[index] ?? "";
    const browsers = Array.from({ length: 4 }, () => createBrowser(made));
    const body = { current, password: next };
    const [changed] = await Promise.all([
      bea.page("POST", "/dashboard/profile/password", { body }),
      ...browsers.map((browser) => browser.signIn(bea.email, current)),
    ]);
    expect(changed.status).toBe(200);
    for (const browser of browsers) expect(await browser.state()).toBe("signed-out");
  }
});

test("a new password closes the open pages of all other sessions", async () => {
  const { bea, ours, follow, made } = await openSessions();
  const other = await signInVisitor(made, bea.id);
  const stream = await follow(other, ours.id);
  const body = { current: "a long enough password", password: "another long password" };
  expect((await bea.page("POST", "/dashboard/profile/password", { body })).status).toBe(200);
  for (;;) if ((await stream.next()) === null) break;
});
