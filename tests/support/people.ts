/** People, sign-ins and browser clients of the admin page. */
import { createId, createToken, sha256 } from "../../src/core/ids.ts";
import { formatTimestamp } from "../../src/core/time/clock.ts";
import type { Role } from "../../src/core/roles.ts";
import { memberships, people } from "../../src/database/tables/accounts.ts";
import { addSession } from "../../src/accounts/sessions/store.ts";
import type { Client, TestAppliance } from "./appliance.ts";
import { createSampleRecord, sampleMonitor, samplePeople } from "./records.ts";

export const password = "a long enough password";
/** A password hash with a minimal work factor, to keep tests fast. */
export const quickHash =
  "$argon2id$v=19$m=64,t=1,p=1$BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc$+xnu9oqXXTR+j6z/nGPmYEZ5kDSxSkiPqhMXWH1A8XY";
/** A password hash with the product's work factor, for tests of that work. */
export const defaultHash =
  "$argon2id$v=19$m=65536,t=2,p=1$0rhI+Kph3rNGM6F0gRXxOC8iOmV4/JV4pY7eymMwqi0$UJRUsrYCYEC9yyCyv/+QnnkOtHJiXRvwFa6WxK3jpqQ";

type PersonOptions = {
  id?: string;
  email?: string;
  name?: string;
  administrator?: boolean;
  passwordHash?: string;
};

/** Creates a member of the organization with the password `password`. */
export async function createPerson(
  { store, time }: TestAppliance,
  organizationId: string,
  role: Role,
  {
    name = role,
    email = `${name}-${createToken(8)}@team.example`,
    administrator = false,
    passwordHash = quickHash,
    id = createId(time.now),
  }: PersonOptions = {},
) {
  const createdAt = formatTimestamp(time.now);
  await store.atomic([
    store.db.insert(people).values({
      id,
      name,
      email,
      emailKey: email.toLowerCase(),
      passwordHash,
      totpStep: 0,
      administrator,
      version: 1,
      createdAt,
      updatedAt: createdAt,
    }),
    store.db.insert(memberships).values({ organizationId, personId: id, role, createdAt }),
  ]);
  return { id, name, email };
}

/** Creates the people, the monitor and the report by mail of the sample bodies in `records.ts`. */
export async function createSampleMembers(appliance: TestAppliance) {
  const { database, ours } = appliance;
  for (const id of samplePeople) await createPerson(appliance, ours.id, "member", { id });
  const id = await createSampleRecord(ours.api, "monitors", { name: "Database" });
  database.transaction(() => {
    database.run("PRAGMA defer_foreign_keys = on");
    database.run("UPDATE monitors SET id = ? WHERE id = ?", [sampleMonitor, id]);
    database.run("UPDATE monitor_states SET monitor_id = ? WHERE monitor_id = ?", [
      sampleMonitor,
      id,
    ]);
  })();
  database.run(
    "UPDATE organization_settings SET smtp = coalesce(smtp, ?), report_mails = ? WHERE id = ?",
    [
      JSON.stringify({ host: "192.0.2.1", port: 25, user: null, from: "a@b.example", tls: "none" }),
      JSON.stringify([{ ...sampleReport, since: 0 }]),
      ours.id,
    ],
  );
}

const sampleReport = {
  interval: "monthly",
  groupId: null,
  statusPageId: null,
  slaTarget: null,
  maintenance: "excluded",
  to: [{ email: "boss@b.example", personId: null, language: null }],
};

/** A client with this cookie that sends the headers of a browser on the admin page. */
export function createBrowserClient(
  { client }: Pick<TestAppliance, "client">,
  cookie: string | null,
  more: Record<string, string> = {},
): Client {
  const request = client(null);
  return (method, path, { headers, ...options } = {}) =>
    request(method, path, {
      ...options,
      headers: {
        "Sec-Fetch-Site": "same-origin",
        ...(cookie !== null && { Cookie: cookie }),
        ...more,
        ...headers,
      },
    });
}

/** Signs a person in without a password, or up to the second factor, and returns their client. */
export async function signInVisitor(
  appliance: TestAppliance,
  personId: string,
  {
    stage = "signed-in",
    address = "127.0.0.1",
  }: { stage?: "signed-in" | "two-factor"; address?: string } = {},
) {
  const { store, time } = appliance;
  const id = createId(time.now);
  const token = createToken(43);
  const at = formatTimestamp(time.now);
  await store.atomic([
    addSession(store, {
      id,
      personId,
      tokenHash: sha256(token),
      stage,
      wrongCodes: 0,
      address,
      userAgent: "test",
      createdAt: at,
      lastSeenAt: at,
    }),
  ]);
  const cookie = `signalbox_session=${token}`;
  let current = cookie;
  /** Stores the cookie of the session from the response. */
  const requestPage: Client = async (...request) => {
    const response = await createBrowserClient(appliance, current, { "X-Address": address })(
      ...request,
    );
    const [pair = ""] = (response.headers.get("set-cookie") ?? "").split("; ");
    if (pair.startsWith("signalbox_session=")) current = pair;
    return response;
  };
  return { id, token, cookie, page: requestPage };
}

/** Adds a person to another organization. */
export async function addToOrganization(
  { store, time }: TestAppliance,
  organizationId: string,
  personId: string,
  role: Role,
) {
  const createdAt = formatTimestamp(time.now + 1);
  await store.atomic([
    store.db.insert(memberships).values({ organizationId, personId, role, createdAt }),
  ]);
}

/** A person of our organization with this role, signed in. */
export async function signInMember(
  appliance: TestAppliance,
  role: Role,
  personOptions: PersonOptions = {},
) {
  const person = await createPerson(appliance, appliance.ours.id, role, personOptions);
  const session = await signInVisitor(appliance, person.id);
  return { ...person, ...session, sessionId: session.id, id: person.id };
}

/** A client that stores cookies and connects from this address (header X-Address). */
export function createBrowser(
  appliance: Pick<TestAppliance, "client">,
  address = "127.0.0.1",
  header = "X-Address",
) {
  let cookie: string | null = null;
  const page: Client = async (method, path, options = {}) => {
    const response = await createBrowserClient(appliance, cookie, { [header]: address })(
      method,
      `/dashboard${path}`,
      options,
    );
    const [pair = null, ...attributes] = (response.headers.get("set-cookie") ?? "").split("; ");
    if (pair) cookie = attributes.includes("Max-Age=0") ? null : pair;
    return response;
  };
  const post = (path: string, body?: object) => page("POST", path, { ...(body && { body }) });
  return {
    page,
    post,
    signIn: (email: string, secret = password) => post("/sign-in", { email, password: secret }),
    state: async () => (await page("GET", "/session")).json.data.state as string,
    cookie: () => cookie,
  };
}

/** The test sets the client's address in the header X-Address. */
export const addressOf = (request: Request) => request.headers.get("x-address") ?? "127.0.0.1";

/** Sorted statuses of responses that arrive in any order. */
export const sortStatuses = (responses: readonly { status: number }[]) =>
  responses.map(({ status }) => status).toSorted((a, b) => a - b);
