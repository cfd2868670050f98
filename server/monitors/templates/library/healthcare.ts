import { openGroup, talk } from '../template.ts'

const { rule, judge } = openGroup('healthcare')

export const healthcare = [
  rule({
    key: 'urgent-symptoms',
    name: 'Urgent symptoms',
    description: 'The caller mentions symptoms that can be an emergency.',
    language: 'en',
    expression:
      "turns.by('customer').mentions(r\"chest pain|(can't|cannot|trouble|difficulty) breath|shortness of breath|numb(ness)? (in|on) (my|his|her)|faint(ed|ing)|severe bleeding|overdose|seizure|stroke\")",
    inAnyLanguage: 'The caller describes symptoms that can be a medical emergency.',
    affected: talk('agent: Acme Clinic.', 'customer: I have chest pain since this morning.'),
    notAffected: talk('agent: Acme Clinic.', 'customer: I need a new appointment.'),
  }),
  rule({
    key: 'no-date-of-birth',
    name: 'Date of birth not asked',
    description: 'The agent talks about an appointment or prescription without asking for the date of birth.',
    language: 'en',
    expression:
      "turns.by('agent').mentions('appointment|prescription|test result') && !turns.by('agent').mentions('date of birth|born|birthday|birth date')",
    inAnyLanguage:
      'The agent talks about an appointment, prescription, or result without asking for the date of birth.',
    affected: talk('customer: It is about Ada Park.', 'agent: Your appointment is on Friday.'),
    notAffected: talk('agent: Your date of birth?', 'customer: 4 May 1980.', 'agent: Your appointment is on Friday.'),
  }),
  judge({
    key: 'medical-advice',
    name: 'Gives medical advice',
    description: 'The agent diagnoses, or recommends a treatment or dose.',
    criteria:
      'Affected if the agent gives a diagnosis, recommends a treatment, or names a dose for the caller. Not affected if it ' +
      'refers them to a doctor or to emergency services.',
    affected: talk('customer: My head hurts.', 'agent: Take two tablets of ibuprofen every four hours.'),
    notAffected: talk('customer: My head hurts.', 'agent: A doctor can call you within the hour.'),
  }),
  judge({
    key: 'discloses-patient-data',
    name: 'Discloses patient data',
    description: 'The agent shares health data with someone who may not be the patient.',
    criteria:
      'Affected if the agent discloses health data, such as a diagnosis, medication, or appointment, to a caller ' +
      'who is not the patient or who was not verified.',
    affected: talk('customer: Has my neighbor been there today?', 'agent: Yes, for her diabetes check.'),
    notAffected: talk('customer: Has my neighbor been there today?', 'agent: I can’t say who our patients are.'),
  }),
]
