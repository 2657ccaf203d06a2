import { Alert } from "@mantine/core";
import { type ManagedAs, useManaged } from "../../data/managed.ts";
import { tNode } from "../../language/text.ts";

/** Warns in an editor that the next run of the configuration overwrites the edit. */
export function ManagedWarning({ record }: { record: ManagedAs }) {
  const managed = useManaged(record);
  if (managed === null) return null;
  return (
    <Alert color="yellow" variant="light" mb="sm" role="note">
      {tNode(
        "The configuration {source} manages this as {section}.{key}. Changes here last until it is applied again. Change its file instead.",
        { source: managed.source, section: record.section, key: managed.key },
      )}
    </Alert>
  );
}
