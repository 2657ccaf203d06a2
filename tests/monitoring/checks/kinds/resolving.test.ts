import { expect, test } from "bun:test";
import type { CheckContext, CheckKind } from "../../../../src/monitoring/checks/check.ts";
import { checkKinds } from "../../../../src/monitoring/checks/kinds.ts";
import type { MonitorType } from "../../../../src/monitoring/monitors/kinds-schema.ts";
import { NewMonitor } from "../../../../src/monitoring/monitors/schema.ts";
import { createCheckContext } from "../../../support/check-runs.ts";
import { newMonitors } from "../../../support/samples.ts";

// A DNS monitor queries a name server by address, two types query this machine, one other monitors.
const nameless = ["dns", "command", "systemd", "composite", "manual"];

for (const type of Object.keys(checkKinds).filter(
  (one) => !nameless.includes(one),
) as (keyof typeof checkKinds)[])
  test(`${type}: a check with silent name servers reports that it waits for them`, async () => {
    const request = Promise.withResolvers<void>();
    const context: CheckContext = {
      ...createCheckContext(),
      addressesOf() {
        request.resolve();
        return new Promise(() => {});
      },
    };
    const settings = NewMonitor.parse({ type, name: "Target", ...newMonitors[type] });
    const check = checkKinds[type] as unknown as CheckKind<MonitorType>;
    void check(settings as never, context);
    await request.promise;
    expect(context.step).toBe("resolving the name");
  });
