/** A value is unknown, so the rule is unscored for this reason. */
export class Unknown extends Error {}
