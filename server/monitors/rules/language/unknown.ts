/** A value is unknown: the rule is unscored, for this reason. */
export class Unknown extends Error {}
