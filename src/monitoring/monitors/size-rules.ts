import { splitSecrets } from "../../core/security/kind-secrets.ts";
import { formatBound, type Bound, monitorBounds } from "../../core/limits.ts";
import { monitorKinds } from "./kinds-schema.ts";

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? "");

type MonitorFields = { type: string };

function measureSizes(monitor: MonitorFields) {
  const { settings, secrets } = splitSecrets(monitorKinds, monitor.type, monitor);
  return { all: bytesOf(monitor), own: bytesOf([settings, secrets]), secrets: bytesOf(secrets) };
}

/**
 * Returns why a monitor is too large, with the path of its largest field. Null if it fits or if its type-specific fields
 * did not grow. `before` is called only for a monitor above a limit.
 */
export function findSizeIssue(
  monitor: MonitorFields,
  before: () => MonitorFields | null = () => null,
): { path: string; message: string } | null {
  const size = measureSizes(monitor);
  const isTooSecret = size.secrets > monitorBounds.secrets.value;
  if (!isTooSecret && size.all <= monitorBounds.size.value) return null;
  const known = before();
  if (known !== null && size.own <= measureSizes(known).own) return null;
  if (!isTooSecret)
    return {
      path: findLargestField(monitor),
      message: describeSizeLimit("fields", monitorBounds.size),
    };
  const { secrets } = splitSecrets(monitorKinds, monitor.type, monitor);
  return {
    path: findLargestField(secrets),
    message: describeSizeLimit("secrets", monitorBounds.secrets),
  };
}

const describeSizeLimit = (part: string, bound: Bound) =>
  `must be shorter: all ${part} of a monitor can have ${formatBound(bound)} together`;

const findLargestField = (fields: object) =>
  Object.entries(fields)
    .map(([name, value]) => ({ name, bytes: bytesOf(value) }))
    .reduce((largest, one) => (one.bytes > largest.bytes ? one : largest)).name;
