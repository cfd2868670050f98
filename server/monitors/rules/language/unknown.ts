/** Thrown if a value is unknown. The message is the reason why the rule is unscored. */
export class Unknown extends Error {}
