/** People with a phone, for tests of drills, notices and readiness. */
import { signInMember } from "./people.ts";
import { replyWith, startTarget } from "./target.ts";

type Appliance = Parameters<typeof signInMember>[0];
type Role = Parameters<typeof signInMember>[1];

/** A member with a verified webhook as contact method, which records all messages. */
export async function createPersonWithPhone(
  appliance: Appliance,
  name: string,
  { role = "member", ...fields }: { role?: Role; [field: string]: unknown } = {},
) {
  const person = await signInMember(appliance, role, { name });
  const phone = await startTarget(replyWith());
  const path = "/dashboard/api/v1/contact-methods";
  const body = { type: "webhook", name: "Phone", url: phone.at("/phone"), ...fields };
  const created = await person.page("POST", path, { body });
  if (created.status !== 201) throw new Error(created.text);
  const methodId = created.json.data.id as string;
  await person.page("POST", `${path}/${methodId}/code`);
  const code = /\b\d{6}\b/.exec(phone.asked.at(-1)?.body ?? "")?.[0];
  const { status, text } = await person.page("POST", `${path}/${methodId}/verify`, {
    body: { code },
  });
  if (status !== 200) throw new Error(text);
  const seen = phone.asked.length;
  return {
    ...person,
    phone,
    methodId,
    /** Messages since the verification. A digest counts as one. */
    received: () => phone.asked.slice(seen).map((one) => JSON.parse(one.body)),
    async [Symbol.asyncDispose]() {
      await phone[Symbol.asyncDispose]();
    },
  };
}
