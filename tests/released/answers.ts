import type { ServerClient } from "../support/machine.ts";
import { sampleBodies } from "../support/records.ts";

/** Every record of an organization in API responses, without values that depend on time and address. */
export async function recordAnswers(api: ServerClient): Promise<Record<string, unknown[]>> {
  const answers: Record<string, unknown[]> = {};
  for (const noun of Object.keys(sampleBodies)) {
    const { json } = await api("GET", `/api/v1/${noun}`);
    const ids: string[] = json.data.map(({ id }: { id: string }) => id);
    answers[noun] = await Promise.all(
      ids.toSorted().map(async (id) => {
        const {
          uptime: _,
          uptime24h: __,
          pushUrl,
          ...lasting
        } = (await api("GET", `/api/v1/${noun}/${id}`)).json.data;
        return pushUrl ? { ...lasting, pushPath: new URL(pushUrl).pathname } : lasting;
      }),
    );
  }
  return answers;
}
