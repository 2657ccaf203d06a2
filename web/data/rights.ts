/** Rights of the signed-in person on one record. */
import { useSignedInPerson } from "./session.ts";

/** Whether the person can change a record. With a limit to monitor groups, it must not concern other monitors, too. */
export const useMayChange = ({ partial }: { partial?: true | undefined }): boolean =>
  useSignedInPerson().mayWrite && partial !== true;
