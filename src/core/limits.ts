/**
 * How much one organization may have, so that it leaves the others their share of the appliance. The
 * names are those of `serve --limit NAME=NUMBER`.
 */
export const usualLimits = {
  monitors: 100_000,
  "monitor-groups": 5_000,
  "alert-channels": 500,
  "alert-channels-of-a-monitor": 50,
  "maintenance-windows": 500,
  "incident-templates": 200,
  "status-pages": 100,
  "status-page-hosts": 200,
  subscribers: 50_000,
  people: 1_000,
  "api-keys": 500,
};

export type LimitName = keyof typeof usualLimits;
export type Limits = Readonly<Record<LimitName, number>>;

/** For whoever runs the appliance itself. */
export const noLimits = Object.fromEntries(
  Object.keys(usualLimits).map((name) => [name, Number.MAX_SAFE_INTEGER]),
) as Limits;

/** The usual limits with those that are written as `monitors=20000`; a sentence where one of these can't be read. */
export function limitsOf(changes: readonly string[]): Limits | string {
  const limits: Record<string, number> = { ...usualLimits };
  for (const change of changes) {
    const [, name = "", number] = /^([a-z-]+)=(\d{1,9})$/.exec(change) ?? [];
    if (!Object.hasOwn(usualLimits, name))
      return `must be NAME=NUMBER with a name among ${Object.keys(usualLimits).join(", ")}`;
    limits[name] = Number(number);
  }
  return limits as Limits;
}

/** What the assertions of a monitor may be: how many, and code points of their parts. */
export const assertionLimits = { ofMonitor: 20, path: 500, value: 1_000, expression: 500 };
