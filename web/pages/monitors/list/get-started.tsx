import { lazy, Suspense } from "react";
import { createChunk } from "../../../data/chunks.ts";
import type { Overview } from "../../../data/overview.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { hiddenItems } from "../../../components/stored-set.ts";

const Steps = lazy(
  createChunk(async () => ({ default: (await import("./get-started-steps.tsx")).Steps })),
);

/** Maximum number of monitors with which the steps appear. */
const maxMonitors = 10;

/** Steps to set up a new appliance. A person can hide them. */
export function GetStarted({ overview }: { overview: Overview }) {
  const { organization, may } = useSignedInPerson();
  const hidden = hiddenItems.use();
  const key = `get-started ${organization.id}`;
  if (!may("admin") || overview.monitors.length > maxMonitors || hidden.has(key)) return null;
  return (
    <Suspense>
      <Steps onHide={() => hiddenItems.add(key)} />
    </Suspense>
  );
}
