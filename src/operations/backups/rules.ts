/** `signalbox-2026-11-20-2302.db`, in UTC: sorts by age and tells backups of one day apart. */
export function fileNameOf(now: number, isEncrypted: boolean): string {
  const [day = "", time = ""] = new Date(now).toISOString().split("T");
  const ending = isEncrypted ? "encrypted" : "db";
  return `signalbox-${day}-${time.slice(0, 5).replace(":", "")}.${ending}`;
}
