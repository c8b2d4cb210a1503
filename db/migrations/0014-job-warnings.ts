/** `warnings`: a JSON list of the sentences that an ended upgrade has to say beside its result; null without any. */
export const sql = `
ALTER TABLE jobs ADD COLUMN warnings TEXT;
`
