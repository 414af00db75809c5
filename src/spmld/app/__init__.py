"""The application: commands, the review of labels by people, and reports. The library never imports it."""
