/** Records that a person can read, but not change, because they also concern monitors of other groups. */
import { useSignedInPerson } from "../../data/session.ts";
import { tNode } from "../../language/text.ts";

type PartialRecord = { partial?: true | undefined };

/** Whether the person can change a record. With a limit to monitor groups, it must not concern other monitors, too. */
export const useMayChange = ({ partial }: PartialRecord): boolean =>
  useSignedInPerson().mayWrite && partial !== true;

/** Explains to people with write access why they can't change a record that also concerns other groups' monitors. */
export function PartialNote({ subject, partial }: PartialRecord & { subject: string }) {
  const { mayWrite } = useSignedInPerson();
  if (partial !== true || !mayWrite) return null;
  return (
    <p className="quiet panel-words">
      {tNode(
        "{subject} also concerns monitors outside of your groups. You can read it, but not change it.",
        { subject },
      )}
    </p>
  );
}
