import { describe, expect, it } from 'vitest'
import { isEnglish } from './language.ts'

describe('the language of a text', () => {
  it.each([
    'I would like to cancel my appointment.',
    'cancel appointment',
    'refund',
    'My card still hasn’t arrived, and it’s been two weeks.',
    "I'd like to move Señora García's visit to Friday",
    '',
    '42',
  ])('is English: %s', (text) => {
    expect(isEnglish(text)).toBe(true)
  })

  it.each([
    'Ich möchte meinen Termin absagen.',
    'Quiero cancelar mi cita',
    'Je voudrais annuler mon rendez-vous',
    'Vorrei spostare il mio appuntamento',
    'Quero cancelar minha consulta',
    'Ik wil mijn afspraak verzetten',
    'Randevumu iptal etmek istiyorum çünkü yarın çok önemli bir işim var',
    'Хочу отменить запись',
    '我想取消明天的预约',
    'أريد إلغاء موعدي',
  ])('is not English: %s', (text) => {
    expect(isEnglish(text)).toBe(false)
  })
})
