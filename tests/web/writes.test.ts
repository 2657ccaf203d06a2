/** Every write of the admin page names the state it changes, and its idempotency key. */
import { expect, test } from "bun:test";
import { Glob } from "bun";
import { join } from "node:path";

const web = join(import.meta.dir, "../../web");

/** Calls without a version, by reason. */
const without: Record<string, string[]> = {
  "a single switch, independent of other changes": [
    "getChannelRoutes(id).patch({ enabled })",
    "getSourceRoutes(id).patch({ enabled: next })",
    "v1.monitors({ id }).patch(change)",
    "dashboard.people({ id }).patch({ role })",
    "dashboard.people({ id }).patch({ groupIds })",
    'dashboard["password-policy"].patch({ passwordSignIn })',
    "getSourceRoutes(id).patch({ enabled: next })",
    "v1.settings.patch({ smtp: null })",
    "route.put(toUpload(file, name))",
    "route.delete()",
  ],
  "no record": [
    "dashboard.monitors.order.put(order)",
    'dashboard["monitor-groups"].order.put(order)',
    "uploads({ id }).put(part,",
  ],
  "its list does not have the version of each record": ['v1["monitor-groups"]({ id }).delete()'],
  "can't be edited": [
    ".notes({ noteId: id }).delete(undefined, { query })",
    "getPageRoutes(pageId).subscribers({ subscriberId: id }).delete(undefined, { query })",
    "dashboard.people({ id }).delete()",
    'dashboard["api-keys"]({ id }).patch(body)',
    "schedules({ id: scheduleId }).overrides({ overrideId }).delete()",
    'v1["deleted-records"]({ id }).delete()',
    "dashboard.administrators({ id }).delete()",
    "dashboard.sessions({ id }).delete()",
    "dashboard.organizations({ id }).delete()",
    "dashboard.identities({ id: identity.id }).delete()",
    'getPageRoutes(pageId)["access-tokens"]({ tokenId: id }).delete()',
    "dashboard.invitations({ id }).delete(undefined, { query })",
    "getRoute(held).delete()",
  ],
  "of the person or the appliance, whose routes have no versions": [
    "dashboard.backup.schedule.patch(buildPatch(values))",
    'dashboard.profile.patch({ ...fields, ...(password !== "" && { password }) })',
    "dashboard.passkeys({ id }).patch(body)",
    "routeOf(id).put(values, addIdempotencyKey(idempotencyKey))",
    "dashboard.passkeys({ id }).delete()",
    'dashboard["identity-providers"]({ id: provider.id }).patch(body)',
    'dashboard["identity-providers"]({ id }).delete()',
  ],
};

test("every edit and deletion in the page names the version that the person saw", async () => {
  const calls = await listCalls(/\.(patch|put|delete)\(/);
  expect(calls.length).toBeGreaterThan(25);
  const silent = calls.filter((call) => !call.includes("addIfMatch("));
  const known = Object.values(without).flat();
  expect(silent.filter((call) => !known.some((one) => call.includes(one)))).toEqual([]);
  expect(known.filter((one) => !silent.some((call) => call.includes(one)))).toEqual([]);
});

/** Calls of forms without an idempotency key, by reason. */
const withoutKey: Record<string, string[]> = {
  "stores nothing": [
    "dashboard.monitors.try.post(body)",
    "sources.preview.post({ type, mapping, mailRules, body })",
    'dashboard["alert-channels"].try.post(buildNewChannelBody(type, values))',
    'dashboard.settings["test-mail"].post(body)',
    "dashboard.invitations.look.post({ token })",
    'dashboard["identity-providers"].test.post(body)',
    "sources.preview.post({ type, mapping, mailRules, body })",
    "dashboard.passkeys.options.post(body)",
  ],
  "sends one message": ["route({ id }).test.post()", "route({ id }).code.post()"],
  "happens once by its nature": [
    "route({ id }).verify.post({ code: code.trim() })",
    'v1["maintenance-windows"]({ id }).restore.post({}, { query })',
    'dashboard["set-up"].post({ ...values, timeZone })',
    "dashboard.invitations.accept.post({ token, ...fields })",
    'dashboard["api-keys"]({ id }).revoke.post()',
    "getPageRoutes(pageId).subscribers({ subscriberId: id }).release.post()",
    'dashboard["api-keys"]({ id }).patch(body)',
    'dashboard["sign-in"].link.post({ token })',
    'dashboard["sign-in"]["second-factors"].post()',
    "dashboard.passkeys.post({ name, ...credential })",
    "dashboard.administrators.post({ personId: id })",
    "dashboard.people({ id }).patch({ role })",
    "dashboard.people({ id }).patch({ groupIds })",
    'dashboard["password-policy"].patch({ passwordSignIn })',
  ],
  "of a person or the appliance, whose routes store no responses": [
    "dashboard.backup.schedule.run.post()",
    "dashboard.backup.schedule.patch(buildPatch(values))",
    "dashboard.organizations.post({ name, timeZone })",
    'dashboard["two-factor"].post(body)',
    'dashboard["two-factor"].confirm.post({ code: code.trim() })',
    'dashboard["two-factor"]["recovery-codes"].post(body)',
    'dashboard["two-factor"].disable.post(body)',
    'dashboard.profile.patch({ ...fields, ...(password !== "" && { password }) })',
    "dashboard.profile.password.post(values)",
    "dashboard.passkeys({ id }).patch(body)",
    'dashboard["two-factor"].passkeys.post(body)',
    'dashboard["identity-providers"].post(body)',
  ],
};

test("every form sends its changes with its idempotency key, so that they are made once", async () => {
  const calls = await listCalls(/\.(post|patch)\(/, /\buseForm\b/);
  const silent = calls.filter((call) => !/idempotency/i.test(call));
  const known = Object.values(withoutKey).flat();
  expect(silent.filter((call) => !known.some((one) => call.includes(one)))).toEqual([]);
  expect(known.filter((one) => !silent.some((call) => call.includes(one)))).toEqual([]);
});

/** Calls of this method in the matching files of the page. */
async function listCalls(method: RegExp, within = /./): Promise<string[]> {
  const calls: string[] = [];
  for await (const file of new Glob("**/*.{ts,tsx}").scan(web)) {
    const source = await Bun.file(join(web, file)).text();
    if (!within.test(source)) continue;
    for (const { index, 0: name } of source.matchAll(
      /\b(unwrapData|hold|holdDeletion|deleteRecord)(?=\()/g,
    )) {
      const request = readBrackets(source, index + name.length);
      if (method.test(request)) calls.push(request);
    }
  }
  return calls;
}

/** Source between the bracket at this position and its closing bracket, on one line. */
function readBrackets(source: string, from: number): string {
  let depth = 0;
  for (let at = from; at < source.length; at++) {
    if (source[at] === "(") depth++;
    if (source[at] === ")" && --depth === 0)
      return source
        .slice(from + 1, at)
        .replace(/\s+/g, " ")
        .replace(/,? \)/g, ")")
        .replace(/\( /g, "(")
        .replace(/(\w|\)) \./g, "$1.")
        .trim();
  }
  throw new Error("A bracket is not closed.");
}
