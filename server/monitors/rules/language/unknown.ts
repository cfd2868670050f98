/** A value is unknown. The rule is unscored for this reason. */
export class Unknown extends Error {}
