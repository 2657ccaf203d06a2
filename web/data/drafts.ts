/** Of this tab, by person, organization and form: somebody else who signs in here finds none of it. */
let owner = "";

export function setDraftOwner(personId: string, organizationId: string) {
  owner = `${personId} ${organizationId}`;
}

const nameOf = (key: string) => `signalbox.draft ${owner} ${key}`;

export type DraftValues = Record<string, unknown>;

/** What was typed and not saved, so that neither a reload nor a lost session takes it. */
export const drafts = {
  read(key: string): DraftValues | undefined {
    const text = sessionStorage.getItem(nameOf(key));
    return text === null ? undefined : (JSON.parse(text) as DraftValues);
  },
  /** An empty draft is none. */
  write(key: string, values: DraftValues) {
    if (Object.keys(values).length === 0) sessionStorage.removeItem(nameOf(key));
    else sessionStorage.setItem(nameOf(key), JSON.stringify(values));
  },
};
