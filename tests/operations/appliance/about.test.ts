import { expect, test } from "bun:test";
import manifest from "../../../package.json" with { type: "json" };
import { testAppliance } from "../../support/appliance.ts";
import { createSampleRecord } from "../../support/records.ts";
import { signInMember } from "../../support/people.ts";

test("about shows the version and the counts of the own organization, nothing of the whole appliance", async () => {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "viewer");
  await createSampleRecord(appliance.ours.api, "incidents");
  await createSampleRecord(appliance.ours.api, "monitors");
  await createSampleRecord(appliance.theirs.api, "monitors");
  const { json } = await page("GET", "/dashboard/about");
  expect(json.data).toEqual({
    version: manifest.version,
    startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    smtpPort: expect.any(Number),
    counts: {
      monitors: 1,
      monitorGroups: 0,
      incidents: 1,
      alertChannels: 0,
      statusPages: 1,
      people: 1,
      apiKeys: 2,
    },
  });
});
