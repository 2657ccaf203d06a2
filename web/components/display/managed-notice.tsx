import { type ManagedAs, useManaged } from "../../data/managed.ts";
import { tNode } from "../../language/text.ts";

/**
 * Names the configuration that manages a record, and the fields that were edited here since it was
 * applied.
 */
export function ManagedLine({ record }: { record: ManagedAs }) {
  const managed = useManaged(record);
  if (managed === null) return null;
  const { source, key, drift } = managed;
  return (
    <p className="page-below quiet text-s mt-6">
      {tNode("Managed by the configuration {configuration} as {key}", {
        configuration: <b>{source}</b>,
        key: (
          <code>
            {record.section}.{key}
          </code>
        ),
      })}
      {drift.length > 0 && (
        <span className="fact-trouble degraded">
          {tNode("Changed here since: {fields}", { fields: drift.join(", ") })}
        </span>
      )}
    </p>
  );
}
