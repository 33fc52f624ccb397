"""The numbers that the paper reports for fully connected networks, as frozen data.

Transcribed from its tables of root mean square errors and accuracies: mean and standard
deviation over ten folds, and the hidden widths of the best architecture. They were
picked on test folds.
"""

from dataclasses import replace

from keras_vaf.experiments.results.result import Published

REGRESSION = (
    Published("cpu_small", "relu", 0.0616, 0.0016, (50, 10)),
    Published("cpu_small", "vaf-random", 0.0593, 0.0017, (100,)),
    Published("cpu_small", "vaf-relu", 0.0606, 0.0032, (100, 10)),
    Published("delta_elevators", "relu", 0.1355, 0.0055, (25,)),
    Published("delta_elevators", "vaf-random", 0.0030, 0.0006, (100, 50)),
    Published("delta_elevators", "vaf-relu", 0.0414, 0.0393, (10,)),
    Published("elevators", "relu", 1.2746, 0.3741, (50, 10)),
    Published("elevators", "vaf-random", 0.0068, 0.0003, (50, 25)),
    Published("elevators", "vaf-relu", 0.1915, 0.1658, (10,)),
    Published("kin8nm", "relu", 0.1090, 0.0040, (100,)),
    Published("kin8nm", "vaf-random", 0.1315, 0.0185, (25,)),
    Published("kin8nm", "vaf-relu", 0.0935, 0.0048, (50, 25)),
    Published("puma8nh", "relu", 0.1336, 0.0023, (25, 10)),
    Published("puma8nh", "vaf-random", 0.1316, 0.0018, (100, 10)),
    Published("puma8nh", "vaf-relu", 0.1331, 0.0025, (25, 10)),
    Published("puma32h", "relu", 0.2372, 0.1473, (25, 10)),
    Published("puma32h", "vaf-random", 0.0273, 0.0005, (100, 10)),
    Published("puma32h", "vaf-relu", 0.0317, 0.0039, (25, 10)),
    Published("servo", "relu", 0.0946, 0.0158, (100,)),
    Published("servo", "vaf-random", 0.0896, 0.0276, (10,)),
    Published("servo", "vaf-relu", 0.0961, 0.0271, (25,)),
    Published("energy_cooling", "relu", 0.0417, 0.0014, (100, 10)),
    Published("energy_cooling", "vaf-random", 0.0461, 0.0024, (100, 25)),
    Published("energy_cooling", "vaf-relu", 0.0400, 0.0026, (50, 25)),
    Published("energy_heating", "relu", 0.0206, 0.0026, (100, 10)),
    Published("energy_heating", "vaf-random", 0.0304, 0.0237, (25, 10)),
    Published("energy_heating", "vaf-relu", 0.0213, 0.0027, (100, 10)),
    Published("yacht", "relu", 0.2442, 0.1146, (25,)),
    Published("yacht", "vaf-random", 0.3435, 0.2186, (100,)),
    Published("yacht", "vaf-relu", 0.1481, 0.0553, (25,)),
)
"""Root mean square errors."""

CLASSIFICATION = (
    Published("liver", "relu", 0.6203, 0.0474, (25, 10)),
    Published("liver", "vaf-random", 0.6290, 0.0378, (100, 10)),
    Published("liver", "vaf-relu", 0.6348, 0.0375, (25,)),
    Published("wine", "relu", 0.8879, 0.0516, (10,)),
    Published("wine", "vaf-random", 0.9552, 0.0371, (50,)),
    Published("wine", "vaf-relu", 0.9162, 0.0434, (10,)),
    Published("image_segmentation", "relu", 0.9463, 0.0128, (25,)),
    Published("image_segmentation", "vaf-random", 0.9351, 0.0179, (50,)),
    Published("image_segmentation", "vaf-relu", 0.9381, 0.0079, (50,)),
    Published("landsat_satellite", "relu", 0.8821, 0.0101, (100, 50)),
    Published("landsat_satellite", "vaf-random", 0.8856, 0.0028, (100,)),
    Published("landsat_satellite", "vaf-relu", 0.8875, 0.0080, (100, 25)),
    Published("cardiotocography", "relu", 0.8979, 0.0263, (100,)),
    Published("cardiotocography", "vaf-random", 0.9040, 0.0073, (100,)),
    Published("cardiotocography", "vaf-relu", 0.8984, 0.0261, (50, 25)),
    Published("seismic_bumps", "relu", 0.9346, 0.0009, (10,)),
    Published("seismic_bumps", "vaf-random", 0.9234, 0.0074, (10,)),
    Published("seismic_bumps", "vaf-relu", 0.9342, 0.0001, (10,)),
    Published("dermatology", "relu", 0.9749, 0.0116, (50, 25)),
    Published("dermatology", "vaf-random", 0.9692, 0.0182, (10,)),
    Published("dermatology", "vaf-relu", 0.9750, 0.0248, (100,)),
    Published("diabetic_retinopathy", "relu", 0.7254, 0.0290, (100,)),
    Published("diabetic_retinopathy", "vaf-random", 0.7315, 0.0238, (10,)),
    Published("diabetic_retinopathy", "vaf-relu", 0.7333, 0.0231, (50,)),
    Published("qsar_biodegradation", "relu", 0.8635, 0.0336, (10,)),
    Published("qsar_biodegradation", "vaf-random", 0.8673, 0.0225, (100, 10)),
    Published("qsar_biodegradation", "vaf-relu", 0.8569, 0.0108, (50,)),
    Published("climate_crashes", "relu", 0.9500, 0.0140, (50, 25)),
    Published("climate_crashes", "vaf-random", 0.9519, 0.0211, (10,)),
    Published("climate_crashes", "vaf-relu", 0.9556, 0.0240, (100,)),
)
"""Accuracies."""


def with_rescaled(published: tuple[Published, ...]) -> tuple[Published, ...]:
    """Add the numbers of random starts as those of rescaled random starts.

    The paper does not say which random start it used.
    """
    rescaled = (
        replace(each, variant="vaf-random-rescaled")
        for each in published
        if each.variant == "vaf-random"
    )
    return (*published, *rescaled)
